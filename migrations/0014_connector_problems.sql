-- What was last wrong with the records that a connector sent, and counts a day: a row for each connection that had any.
create table ingest_problems (
  connection_id text primary key references connections (id) on delete cascade,
  version       integer not null, -- changes with each change
  rejected      text not null,    -- JSON, the newest first
  warned        text not null,    -- JSON, the newest first
  days          text not null     -- JSON: how many there were a day (UTC), the newest first
) strict, without rowid;
