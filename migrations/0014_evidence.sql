-- The evidence of accidents: what providers link to for some days, copied to the bucket of the archive.

-- For how many days an account keeps it, which its fleets have agreed to, and since when, null: it keeps none.
alter table accounts add column evidence_days integer;
alter table accounts add column evidence_since integer;

-- A row is a file. One that its account no longer keeps is in no list, and a job deletes it.
create table evidence (
  id            text primary key, -- of the connection, accident, kind and link without its signature
  account_id    text not null,
  connection_id text not null references connections (id),
  accident_id   text not null,
  kind          text not null check (kind in ('video', 'photo', 'document', 'telemetry')),
  camera        text,
  taken_at      integer,
  source        text,             -- the link, null once the file is stored
  state         text not null default 'waiting' check (state in ('waiting', 'stored', 'missed')),
  reason        text,             -- why it was missed, or not copied so far
  content_type  text,
  bytes         integer,
  sha256        text,
  upload        text check (json_valid(upload)), -- how far its copy has come
  attempts      integer not null default 0,
  next_at       integer,          -- when to try next, null unless it is waiting
  opened        text not null default '{}' check (json_valid(opened)), -- who has opened it in the last hour, and when
  created_at    integer not null,
  stored_at     integer
) strict, without rowid;
-- For the page of an accident, and for how much it has already.
create index evidence_by_accident on evidence (accident_id, id);
-- For what an account no longer keeps, and for moving or deleting the account.
create index evidence_by_account on evidence (account_id, created_at, id);
-- For deleting a connection, whose row it refers to.
create index evidence_by_connection on evidence (connection_id, id);
-- For what is due, account by account, so that none waits for another's files. Files that are done cost nothing.
create index evidence_waiting on evidence (account_id, next_at, id) where next_at is not null;
