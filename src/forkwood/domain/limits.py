"""Every bound of the program in one place, units last. A bound that something hits is told to the person who hit it."""

from __future__ import annotations

KIB = 1024
MIB = 1024 * KIB

# The tree
message_bytes_max = 8 * MIB
"""One message's text, as UTF-8. A longer text belongs in an attachment."""
parts_max = 1_024
path_entries_max = 100_000
label_characters_max = 100
model_characters_max = 400
title_characters_max = 200
rule_title_characters_max = 60
"""A title that nobody gave: the first line, or the model's."""
system_bytes_max = 256 * KIB
purge_names_max = 1_000
purge_wait_seconds = 30.0
tags_max = 64
tag_characters_max = 64

# Attachments
attachment_bytes_max = 32 * MIB
attachments_max = 64
fenced_text_bytes_max = 256 * KIB
"""A text file up to this size goes into the prompt whole; a larger one by name, type and size."""

stdin_counted_bytes_max = 128 * MIB
"""Standard input is read on so far, and not kept, to say how much too long a text is."""

# Runs
models_of_one_message_max = 8
"""Models that one command may ask at once: each starts a run, and their replies are siblings."""
queue_max = 32
"""Messages of one conversation that wait, those that steer among them."""
rounds_max = 25
"""Turns of a run whose calls count. Then tools are withdrawn for one last turn, so that it ends with words."""
turns_max = 1_000
"""Turns of a run at all: calls of project tools do not count towards the rounds."""
loop_failures_max = 5
"""Calls in a row that reach no tool, for their name is unknown or their arguments do not fit. Then the run ends."""
loop_failures_reminded_min = 3
"""From so many on the model is reminded of the tools it has, once."""
tries_max = 4
retry_after_seconds_max = 30
draft_bytes = 2 * KIB
draft_ms = 250
"""A cancel from another process is seen as soon as a draft is written: no later than this."""
cancel_wait_ms = 500
"""So long a `cancel` waits to see how the run ended that another process drives."""
watch_ms = 100
"""How often the store is looked at for a run that another process drives."""
watch_deltas_max = 10_000
"""Deltas that wait for a watcher who does not fetch them; later ones are left out until it does."""
watch_events_max = 500
"""Events that a watcher of the whole stream reads at one look: however far behind, so much is in memory."""
recipe_fresh_max = 64
"""Entries whose digests a recipe holds: those since the last reply on its path."""
manifest_bytes_max = 2 * MIB
manifest_depth_max = 64
tools_max = 256
tool_bytes_max = 128 * KIB

# Tools
tool_seconds_max = 60.0
"""How long a tool may take for one call, where it does not say otherwise."""
result_bytes_max = 64 * KIB
"""What a model reads of one result: of a longer one head and tail. The whole is kept beside it."""
error_characters_max = 4_000
"""What an error says, and any text in its facts: of what was given that is longer it repeats the ends."""
quoted_characters_max = 200
"""Of what a model made up and is told of again: a tool there is not, an argument that does not fit."""
questions_max = 3
question_options_max = 10
question_characters_max = 1_000
memory_name_characters_max = 100
memory_value_characters_max = 4_000
memories_proposed_max = 100
"""Proposals that wait for a person: from there on a model is told to wait too."""
memory_block_bytes_max = 16 * KIB
"""Of the notes in a system prompt: the oldest that find no room are left out, and `why` names them."""
memories_max = 200
"""Notes in one system prompt."""
memories_accepted_max = 1_000
"""Facts that count at once: a manifest names each."""
memories_recalled_max = 200
"""Facts that one look at all of them shows; any other is recalled by its name."""
model_search_hits_max = 50
"""Hits that a model may ask for at once."""

answer_bytes_max = 64 * KIB
"""What a person answers to the questions of one call."""
approval_expiry_seconds_max = 366 * 24 * 3_600
"""Who wants approvals to wait longer wants them to wait for ever."""

# Models
reply_bytes_max = 8 * MIB
sse_line_bytes_max = 16 * MIB
ndjson_line_bytes_max = 16 * MIB
replay_bytes_max = 1 * MIB
value_depth_max = 128
"""Objects and lists in one another, in arguments that are kept as an object and in what signs a thought."""
frame_depth_max = 160
"""The same in a frame of a stream and in a script: what is deeper is not read. Python's own stack ends at 1,000."""
usage_tokens_max = 999_999_999_999_999
"""A larger count is no count."""
unsaid_seconds_max = 1_800.0
"""How long a stream may send and say nothing: pings, comments, single bytes."""
match_characters_max = 1_000
"""A script's `match`: what is made of a pattern takes memory with its length."""
tool_calls_max = 128
error_characters_max = 2_000
response_bytes_max = 64 * MIB
"""What a model server may send for one reply, framing included."""
error_body_bytes_max = 64 * KIB
"""How much is read of a response that reports an error."""
output_tokens_default = 8_192
"""Asked for where a provider demands a number and nobody set one."""
after_end_seconds = 5.0
"""How long a stream whose reply has ended may take to report usage and close."""
models_listed_max = 1_000
model_name_characters_max = 500
details_asked_max = 64
"""Models of one server that are asked for one by one; the others are listed with what the list says."""
secret_bytes_max = 64 * KIB
listing_bytes_max = 16 * MIB
remote_listing_seconds = 5.0
local_context_tokens_max = 32_768
"""Asked of a server that makes room for each request, where the model can have more and nobody set a number: the whole
context of a new model takes more memory than most machines have."""
embedded_start_seconds = 60.0
embedded_context_tokens_max = 8_192
embedded_output_tokens_max = 512
"""Tokens of one embedded reply: a small model that begins to repeat itself would else go on for minutes."""
script_bytes_max = 16 * MIB
connect_seconds = 10.0
first_byte_seconds = 120.0
first_byte_local_seconds = 600.0
stall_seconds = 60.0
discovery_seconds = 1.0
title_seconds = 30.0
"""How long a model may take for a title: a person has the reply already and waits for nothing else."""
summary_tokens_max = 2_048
"""How long a summary is asked to be; one that is twice as long is not taken."""
summary_tokens_min = 16
"""Where the newest exchange leaves less for it, no summary is asked for: it could say nothing."""
summary_tries_max = 2
"""Summaries that are tried for one turn: after that the run ends, for each of them costs."""
counted_tokens_min = 256
"""A shorter prompt tells little of how a server counts: a part of every count is the same whatever is said."""
estimate_ratio_max = 4.0
"""No server's count moves an estimate further up."""
prompt_bytes_per_token_max = 8
"""A prompt of more bytes for each token the server counted was cut: prose has four, code and other scripts fewer."""
prompt_cut_bytes_min = 8 * KIB
"""No server cuts a shorter prompt, and few tokens say little."""

# The store
busy_ms = 30_000
taken_up_ms = 1_000
"""How long a run that nobody has driven yet may stand before it is said to be left: who began it is about to."""
key_characters_max = 200
receipt_days_kept = 90
"""A command that is sent again within so many days is not done twice. Thirty are promised."""
receipts_pruned_max = 100
"""Receipts past their days that one command takes along."""
search_words_max = 32
search_word_characters_max = 1_000
search_scan_messages_max = 1_000_000
search_hits_max = 1_000
config_bytes_max = 1 * MIB
config_keys_deep_max = 64
"""Tables and lists in one another: what goes into a request (`extra_body`) is never as deep."""
backups_kept = 10
problems_of_a_kind_max = 100
"""Doctor names as many problems of one kind, and counts the others."""
seq_max = 1 << 40
"""No store counts so far: a higher number is damage, and behind it none would be left to give."""
time_ms_max = 1 << 47
"""A time after the year 6429 is damage, and no calendar shows it."""

# Credentials that come back from a server
secret_gap_characters_max = 256
"""How much may stand between two characters of a value for which the end of a text is held back."""
secret_spelling_characters_max = 32
"""How many may stand for one character of a form, on average, for that: no escape is longer."""
secret_tag_characters_max = 64
"""How long an opened tag may be for that: a longer one may be no tag at all."""
secret_told_characters_max = 16
"""What was told last and is looked at again with what comes: a value may go on from it that lacks its beginning."""
secret_told_marked_characters_max = 48
"""The same where characters are spelled by escapes or stand between tags."""

assert receipt_days_kept >= 30, "so many are promised"
assert rule_title_characters_max <= title_characters_max
assert draft_bytes < message_bytes_max
assert reply_bytes_max <= message_bytes_max <= 64 * MIB, "a 64 MiB paste is refused"
assert tool_bytes_max < manifest_bytes_max
assert summary_tokens_min < summary_tokens_max < embedded_context_tokens_max
assert tool_calls_max * result_bytes_max <= message_bytes_max, "the results of a turn are one message"
assert rounds_max < turns_max
assert loop_failures_reminded_min < loop_failures_max
assert value_depth_max < frame_depth_max
assert discovery_seconds < connect_seconds <= first_byte_seconds <= first_byte_local_seconds
