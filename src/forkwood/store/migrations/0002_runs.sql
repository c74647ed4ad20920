-- What tools, queues, grants and memory need.

-- Messages that were accepted while a run is at work: for its tip when it is over, or (steers) before its next turn.
CREATE TABLE queued (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  behind BLOB NOT NULL,                         -- the run at whose tip it comes
  position INTEGER NOT NULL,                    -- they come in this order; a steering message that is left comes first
  steers INTEGER NOT NULL CHECK (steers IN (0, 1)),
  state TEXT NOT NULL CHECK (state IN ('waiting', 'held', 'sent', 'removed')),
  parts TEXT NOT NULL CHECK (json_valid(parts)),
  models TEXT NOT NULL CHECK (json_valid(models)),  -- the models that reply, by name; none: the conversation's
  node INTEGER REFERENCES node (seq),           -- what it became when it was sent: its words stand there alone
  runs TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(runs)),  -- those that reply to it, by name
  by TEXT NOT NULL,
  via TEXT NOT NULL,
  client TEXT,                                  -- and the key of the command, as it carried them
  key TEXT,
  created_ms INTEGER NOT NULL,
  CHECK ((state = 'sent') = (node IS NOT NULL))
) STRICT;
CREATE INDEX queued_waiting ON queued (conversation, position) WHERE state IN ('waiting', 'held');

CREATE INDEX queued_behind ON queued (behind);

-- Receipts are kept for their days, then they go.
CREATE INDEX receipt_age ON receipt (created_ms) WHERE response IS NOT NULL;

-- A yes given beforehand, for one tool. Both ends are log numbers.
CREATE TABLE granted (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  tool TEXT NOT NULL,
  scope TEXT NOT NULL CHECK (scope IN ('run', 'conversation', 'project')),
  holds_for TEXT NOT NULL,                      -- the id of the run, conversation or project
  hash TEXT,                                    -- of a slot: of what stood in it
  conversation INTEGER NOT NULL REFERENCES conversation (seq),
  since INTEGER NOT NULL,
  until INTEGER,
  created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX granted_now ON granted (holds_for) WHERE until IS NULL;
CREATE TRIGGER granted_ends_once BEFORE UPDATE ON granted
  WHEN OLD.until IS NOT NULL OR NEW.id <> OLD.id OR NEW.tool <> OLD.tool OR NEW.scope <> OLD.scope
    OR NEW.holds_for <> OLD.holds_for OR NEW.hash IS NOT OLD.hash OR NEW.since <> OLD.since BEGIN
  SELECT RAISE(ABORT, 'a grant only ever ends');
END;

-- What is remembered, version by version. A model proposes; a person accepts or rejects, once.
CREATE TABLE memory (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE CHECK (length(id) = 16),
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  version INTEGER NOT NULL CHECK (version >= 1),
  state TEXT NOT NULL CHECK (state IN ('proposed', 'accepted', 'rejected')),
  superseded_by INTEGER REFERENCES memory (seq),
  conversation INTEGER REFERENCES conversation (seq),
  run BLOB,                                     -- the run that proposed it, in the reply NODE, by CALL
  node INTEGER REFERENCES node (seq),
  call TEXT,
  by TEXT NOT NULL CHECK (by IN ('user', 'model')),
  via TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  decided_ms INTEGER,
  purged INTEGER NOT NULL DEFAULT 0 CHECK (purged IN (0, 1)),
  CHECK ((state = 'proposed') = (decided_ms IS NULL)),
  UNIQUE (name, version)
) STRICT;
-- The node is part of it: many a provider names its calls anew in each reply.
CREATE UNIQUE INDEX memory_call ON memory (run, node, call) WHERE run IS NOT NULL;
CREATE INDEX memory_now ON memory (name) WHERE state = 'accepted' AND superseded_by IS NULL;
CREATE TRIGGER memory_is_forever BEFORE UPDATE ON memory
  WHEN NOT EXISTS (SELECT 1 FROM purging)
    AND (NEW.id <> OLD.id OR NEW.name <> OLD.name OR NEW.value <> OLD.value OR NEW.version <> OLD.version
      OR NEW.by <> OLD.by OR NEW.run IS NOT OLD.run OR NEW.node IS NOT OLD.node
      OR (OLD.state <> 'proposed' AND NEW.state <> OLD.state)
      OR (OLD.superseded_by IS NOT NULL AND NEW.superseded_by IS NOT OLD.superseded_by)) BEGIN
  SELECT RAISE(ABORT, 'what is remembered never changes: a new version is added');
END;
CREATE TRIGGER memory_stays BEFORE DELETE ON memory BEGIN
  SELECT RAISE(ABORT, 'what is remembered is never deleted');
END;

-- An interaction by its id: it is opened and closed by events of its run.
CREATE INDEX event_interaction ON event (payload ->> '$.interaction')
  WHERE kind IN ('interaction.opened', 'interaction.closed');

-- Which summary stands for the beginning of a path: found without reading any.
CREATE INDEX summary_mark ON summary (json_array_length(covers), digest);
