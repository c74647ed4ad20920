-- The first schema. Ids are UUIDv7 in 16 bytes; times are Unix milliseconds; parts, payloads and settings are JSON text.
-- A place without a node is the empty path: first nodes hang there.

CREATE TABLE conversation (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  title TEXT NOT NULL,
  titled_by TEXT NOT NULL CHECK (titled_by IN ('rule', 'model', 'user')),
  head_node INTEGER REFERENCES node (seq),
  head_cut INTEGER NOT NULL DEFAULT 0 CHECK (head_cut >= 0),
  head_id BLOB,                                 -- the head node's name: lists of conversations read this table alone
  model TEXT,
  system TEXT,
  approvals TEXT NOT NULL DEFAULT 'ask' CHECK (approvals IN ('ask', 'allow-edits', 'allow-all')),
  tools_off TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tools_off)),
  params TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(params)),
  profile TEXT,
  turns INTEGER NOT NULL DEFAULT 0 CHECK (turns >= 0),
  input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0,
  cost REAL,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL,
  forked_conversation BLOB,
  forked_node BLOB,
  tags TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(tags)),
  folder TEXT,
  pinned INTEGER NOT NULL DEFAULT 0 CHECK (pinned IN (0, 1)),
  archived INTEGER NOT NULL DEFAULT 0 CHECK (archived IN (0, 1)),
  hidden INTEGER NOT NULL DEFAULT 0 CHECK (hidden IN (0, 1)),
  closing INTEGER NOT NULL DEFAULT 0 CHECK (closing IN (0, 1)),  -- a purge has begun: no run starts
  purged INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1))
) STRICT;
CREATE INDEX conversation_ending ON conversation (substr(id, -2));

-- `INSERT OR REPLACE` deletes without asking the triggers that refuse deletion, where these are not made recursive: so
-- every table whose rows stay refuses a row that would take another one's place.
CREATE TRIGGER conversation_is_new BEFORE INSERT ON conversation BEGIN
  SELECT RAISE(ABORT, 'conversations are never replaced')
    WHERE EXISTS (SELECT 1 FROM conversation WHERE seq = NEW.seq) OR EXISTS (SELECT 1 FROM conversation WHERE id = NEW.id);
END;
CREATE TRIGGER conversation_stays BEFORE DELETE ON conversation BEGIN
  SELECT RAISE(ABORT, 'conversations are never deleted');
END;
CREATE TRIGGER conversation_head_moved AFTER UPDATE OF head_node ON conversation BEGIN
  UPDATE conversation SET head_id = (SELECT id FROM node WHERE seq = NEW.head_node) WHERE seq = NEW.seq;
END;

-- The conversation that commands mean when they name none.
CREATE TABLE current (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  conversation INTEGER NOT NULL REFERENCES conversation (seq)
) STRICT;

-- A row here, written and deleted in one transaction, lets a purge through the triggers below.
CREATE TABLE purging (one INTEGER PRIMARY KEY CHECK (one = 1)) STRICT;

-- The tree --------------------------------------------------------------------
CREATE TABLE node (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  role TEXT CHECK (role IN ('system', 'user', 'assistant', 'tool')),
  at_node INTEGER REFERENCES node (seq),
  at_cut INTEGER NOT NULL DEFAULT 0,
  own INTEGER NOT NULL CHECK (own >= 1),        -- entries it adds: 1, or the count of a graft
  length INTEGER NOT NULL CHECK (length >= own),
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  by TEXT NOT NULL CHECK (by IN ('user', 'model', 'tool', 'system')),
  via TEXT NOT NULL,
  run BLOB,
  model TEXT,
  revises INTEGER REFERENCES node (seq),
  partial TEXT,
  created_ms INTEGER NOT NULL,
  purged INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
  source_node INTEGER REFERENCES node (seq),
  source_cut INTEGER,
  first INTEGER REFERENCES node (seq),          -- of a graft: the first message it carries
  beside INTEGER NOT NULL CHECK (beside IN (0, 1)), -- 1: something else could stand in its place when it came
  hops INTEGER NOT NULL CHECK (hops >= 1),      -- nodes from the first one down to it
  jump_node INTEGER,                            -- a place further up its path: any place on it is found in
  jump_cut INTEGER,                             --   a number of jumps that grows with the logarithm of hops
  graft_node INTEGER,                           -- the nearest graft above it, and where its path leaves that graft
  graft_cut INTEGER,
  parts TEXT CHECK (json_valid(parts)),         -- last: whatever its size, walking past it costs nothing
  CHECK (seq > 0),
  CHECK (at_node < seq AND source_node < seq AND revises < seq AND jump_node < seq AND graft_node < seq),
  CHECK ((source_node IS NULL) = (role IS NOT NULL)),
  CHECK ((source_node IS NULL) = (parts IS NOT NULL)),
  CHECK ((source_node IS NULL) = (source_cut IS NULL)),
  CHECK ((source_node IS NULL) = (first IS NULL)),
  CHECK (at_cut >= 0 AND source_cut >= 0 AND jump_cut >= 0 AND graft_cut >= 0),
  CHECK (source_node IS NOT NULL OR own = 1)
) STRICT;
CREATE INDEX node_child ON node (at_node, at_cut);
CREATE INDEX node_conversation ON node (conversation);
CREATE INDEX node_first ON node (conversation) WHERE at_node IS NULL;
CREATE INDEX node_beside ON node (conversation, at_node, at_cut) WHERE beside = 1;
CREATE INDEX node_ending ON node (substr(id, -2));
CREATE INDEX node_source ON node (source_node) WHERE source_node IS NOT NULL;
CREATE INDEX node_revises ON node (revises) WHERE revises IS NOT NULL;
CREATE INDEX node_run ON node (run) WHERE run IS NOT NULL;
CREATE UNIQUE INDEX node_one_result ON node (at_node, at_cut) WHERE role = 'tool';

CREATE TRIGGER node_hangs BEFORE INSERT ON node BEGIN
  SELECT RAISE(ABORT, 'a first node adds exactly its own entries')
    WHERE NEW.at_node IS NULL AND (NEW.at_cut <> 0 OR NEW.length <> NEW.own);
  SELECT RAISE(ABORT, 'a node hangs at a node of its own conversation')
    WHERE NEW.at_node IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM node p WHERE p.seq = NEW.at_node AND p.conversation = NEW.conversation);
  SELECT RAISE(ABORT, 'a place is cut inside the entries its node adds')
    WHERE NEW.at_node IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM node p WHERE p.seq = NEW.at_node AND NEW.at_cut >= 0 AND NEW.at_cut < p.own
         AND NEW.length = p.length - NEW.at_cut + NEW.own);
  SELECT RAISE(ABORT, 'results hang on the reply whose calls they answer')
    WHERE NEW.role = 'tool' AND NOT EXISTS
      (SELECT 1 FROM node p WHERE p.seq = NEW.at_node AND NEW.at_cut = 0 AND p.role = 'assistant'
         AND (SELECT group_concat(j.value ->> '$.call', char(10)) FROM json_each(p.parts) j WHERE j.value ->> '$.kind' = 'tool_call')
           = (SELECT group_concat(j.value ->> '$.call', char(10)) FROM json_each(NEW.parts) j WHERE j.value ->> '$.kind' = 'tool_result'));
END;
CREATE TRIGGER node_carries BEFORE INSERT ON node WHEN NEW.source_node IS NOT NULL BEGIN
  SELECT RAISE(ABORT, 'a graft carries entries that are at its source')
    WHERE NOT EXISTS (SELECT 1 FROM node s WHERE s.seq = NEW.source_node AND NEW.source_cut < s.own
      AND NEW.own <= s.length - NEW.source_cut);
  SELECT RAISE(ABORT, 'a graft begins with a message')
    WHERE NOT EXISTS (SELECT 1 FROM node m WHERE m.seq = NEW.first AND m.source_node IS NULL);
END;
CREATE TRIGGER node_is_new BEFORE INSERT ON node BEGIN
  SELECT RAISE(ABORT, 'nodes are never replaced')
    WHERE EXISTS (SELECT 1 FROM node WHERE seq = NEW.seq) OR EXISTS (SELECT 1 FROM node WHERE id = NEW.id);
  SELECT RAISE(ABORT, 'a reply has one node of results')
    WHERE NEW.role = 'tool'
      AND EXISTS (SELECT 1 FROM node WHERE role = 'tool' AND at_node = NEW.at_node AND at_cut = NEW.at_cut);
END;
CREATE TRIGGER node_is_forever BEFORE UPDATE ON node WHEN NOT EXISTS (SELECT 1 FROM purging) BEGIN
  SELECT RAISE(ABORT, 'nodes never change');
END;
CREATE TRIGGER node_stays BEFORE DELETE ON node BEGIN
  SELECT RAISE(ABORT, 'nodes are never deleted');
END;

-- A mark hides a node from one log number until another; both are seqs of events.
CREATE TABLE mark (
  node INTEGER NOT NULL REFERENCES node (seq),
  since INTEGER NOT NULL,
  until INTEGER,
  PRIMARY KEY (node, since)
) STRICT, WITHOUT ROWID;
CREATE INDEX mark_now ON mark (node) WHERE until IS NULL;
CREATE TRIGGER mark_ends_once BEFORE UPDATE ON mark
  WHEN OLD.until IS NOT NULL OR NEW.node <> OLD.node OR NEW.since <> OLD.since BEGIN
  SELECT RAISE(ABORT, 'a mark only ever ends');
END;

CREATE TABLE label (
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  name TEXT NOT NULL,
  node INTEGER NOT NULL REFERENCES node (seq),
  PRIMARY KEY (conversation, name)
) STRICT, WITHOUT ROWID;

-- Digests of paths, computed when first asked for. An index: doctor rebuilds it.
CREATE TABLE digest (
  node INTEGER NOT NULL,
  cut INTEGER NOT NULL,
  path BLOB NOT NULL,
  match BLOB NOT NULL,
  PRIMARY KEY (node, cut)
) STRICT, WITHOUT ROWID;

-- The log ---------------------------------------------------------------------
CREATE TABLE event (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  at_ms INTEGER NOT NULL,
  kind TEXT NOT NULL,
  conversation INTEGER REFERENCES conversation (seq),
  run BLOB,
  node INTEGER REFERENCES node (seq),
  by TEXT NOT NULL,
  via TEXT NOT NULL,
  act INTEGER NOT NULL CHECK (act IN (0, 1)),
  payload TEXT NOT NULL CHECK (json_valid(payload))
) STRICT;
CREATE INDEX event_conversation ON event (conversation);
CREATE INDEX event_act ON event (conversation) WHERE act = 1;
CREATE INDEX event_run ON event (run) WHERE run IS NOT NULL;
CREATE INDEX event_notice ON event (node) WHERE kind = 'notice.given';
CREATE TRIGGER event_is_new BEFORE INSERT ON event BEGIN
  SELECT RAISE(ABORT, 'events are never replaced') WHERE EXISTS (SELECT 1 FROM event WHERE seq = NEW.seq);
END;
CREATE TRIGGER event_is_forever BEFORE UPDATE ON event WHEN NOT EXISTS (SELECT 1 FROM purging) BEGIN
  SELECT RAISE(ABORT, 'events never change');
END;
CREATE TRIGGER event_stays BEFORE DELETE ON event BEGIN
  SELECT RAISE(ABORT, 'events are never deleted');
END;

-- Runs: a row is an index of the run's events, and the place where its driver is written ------------------------------
CREATE TABLE run (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  from_node INTEGER REFERENCES node (seq),
  from_cut INTEGER NOT NULL DEFAULT 0 CHECK (from_cut >= 0),
  tip_node INTEGER REFERENCES node (seq),
  tip_cut INTEGER NOT NULL DEFAULT 0 CHECK (tip_cut >= 0),
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'waiting', 'done', 'failed', 'cancelled')),
  model TEXT NOT NULL,
  leads INTEGER NOT NULL CHECK (leads IN (0, 1)),
  manifest TEXT,
  turns INTEGER NOT NULL DEFAULT 0,
  input INTEGER NOT NULL DEFAULT 0,
  output INTEGER NOT NULL DEFAULT 0,
  cache_read INTEGER NOT NULL DEFAULT 0,
  cache_write INTEGER NOT NULL DEFAULT 0,
  reasoning INTEGER NOT NULL DEFAULT 0,
  error TEXT CHECK (json_valid(error)),
  driver TEXT,
  takeover INTEGER NOT NULL DEFAULT 0,
  created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX run_conversation ON run (conversation);
CREATE INDEX run_active ON run (status) WHERE status IN ('queued', 'running', 'waiting');
CREATE INDEX run_tip ON run (tip_node, tip_cut);

CREATE TABLE manifest (
  digest TEXT PRIMARY KEY CHECK (length(digest) = 64),
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE TRIGGER manifest_is_forever BEFORE UPDATE ON manifest WHEN NOT EXISTS (SELECT 1 FROM purging) BEGIN
  SELECT RAISE(ABORT, 'manifests never change');
END;

-- What came of a reply in flight; gone with the commit of the reply.
CREATE TABLE draft (
  run BLOB NOT NULL,
  turn INTEGER NOT NULL,
  n INTEGER NOT NULL,
  deltas TEXT NOT NULL CHECK (json_valid(deltas)),
  PRIMARY KEY (run, turn, n)
) STRICT, WITHOUT ROWID;

-- Text that stands for the beginning of a visible path, where that is what the digest says.
CREATE TABLE summary (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  digest BLOB NOT NULL CHECK (length(digest) = 32),
  covers TEXT NOT NULL CHECK (json_array_length(covers) > 0),  -- the ids of the messages it stands for
  text TEXT NOT NULL,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE TRIGGER summary_is_forever BEFORE UPDATE ON summary BEGIN
  SELECT RAISE(ABORT, 'summaries never change');
END;

CREATE TABLE receipt (
  client TEXT NOT NULL,
  key TEXT NOT NULL,
  verb TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  response TEXT CHECK (json_valid(response)),   -- NULL while a verb of several transactions is in progress
  created_ms INTEGER NOT NULL,
  PRIMARY KEY (client, key)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER receipt_is_final BEFORE UPDATE ON receipt
  WHEN OLD.response IS NOT NULL AND NOT EXISTS (SELECT 1 FROM purging) BEGIN
  SELECT RAISE(ABORT, 'a receipt that was given never changes');
END;

-- Bytes by SHA-256, and the nodes that speak of them.
CREATE TABLE blob (
  hash TEXT PRIMARY KEY CHECK (length(hash) = 64),
  size INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE TABLE attachment (
  node INTEGER NOT NULL REFERENCES node (seq),
  blob TEXT NOT NULL REFERENCES blob (hash),
  PRIMARY KEY (node, blob)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_blob ON attachment (blob);

-- Search ----------------------------------------------------------------------
-- The terms of every message, folded and split by domain/words.py; rowid is the node's seq. It holds no text: an index that doctor rebuilds.
CREATE VIRTUAL TABLE search USING fts5 (words, content = '', tokenize = 'ascii');
INSERT INTO search (search, rank) VALUES ('pgsz', 1000), ('crisismerge', 8);
-- Every term with the message and position it stands at: a view of the index, no table of its own.
CREATE VIRTUAL TABLE search_term USING fts5vocab (search, instance);
