-- The evidence of accidents: what providers link to for some days, copied to the bucket of the archive.

-- For how many days an account keeps it, which its fleets have agreed to, and since when. One without a row keeps none.
create table evidence_days (
  account_id text primary key,
  days       integer not null,
  since      integer not null
) strict, without rowid;

-- A row is a file. One that its account no longer keeps is in no list, and a job deletes it. Of one that was erased, has
-- expired or was there twice, a row without anything else remains, so that no record brings it back.
create table evidence (
  id            text primary key, -- of the connection, accident, kind, camera and link without its signature
  account_id    text not null,
  connection_id text not null references connections (id),
  accident_id   text not null,
  kind          text not null check (kind in ('video', 'photo', 'document', 'telemetry')),
  camera        text,
  taken_at      integer,
  source        text,             -- the link, null once the file is stored
  lane          text not null,    -- its connection and server: the files of one are copied one after the other
  state         text not null default 'waiting' check (state in ('waiting', 'stored', 'missed', 'gone')),
  reason        text,             -- why it was missed, or not copied so far
  content_type  text,
  bytes         integer,          -- how large it is, while it is copied, what is reserved for it
  sha256        text,
  upload        text check (json_valid(upload)), -- how far its copy has come
  attempts      integer not null default 0,
  next_at       integer,          -- when to try next, null unless it is waiting
  opened        text not null default '{}' check (json_valid(opened)), -- who has opened it in the last hour, and when
  created_at    integer not null,
  ended_at      integer           -- when it was stored or missed
) strict, without rowid;
-- For the page of an accident, and for how much it has already.
create index evidence_by_accident on evidence (accident_id, id);
-- For what an account no longer keeps, how much came today, and for moving or deleting the account.
create index evidence_by_account on evidence (account_id, state, created_at, id);
-- For deleting a connection, whose row it refers to.
create index evidence_by_connection on evidence (connection_id, id);
-- For what is due, account by account, so that none waits for another's files. Files that are done cost nothing.
create index evidence_waiting on evidence (account_id, next_at, id) where next_at is not null;
-- For the next of them by connection and server, so that no slow one delays others.
create index evidence_lanes on evidence (account_id, lane, next_at, id) where next_at is not null;
