-- Connections that pull from a provider: one row each, with how far its feeds have come.
create table pulls (
  connection_id   text primary key references connections (id) on delete cascade,
  account_id      text not null,
  secrets         text not null,              -- encrypted: the credential
  webhook_secret  text,                       -- encrypted: what the provider signs the calls of its webhook with
  credential_hash text not null,              -- so that an account does not connect the same credential twice
  session         text,                       -- encrypted, for providers that have sessions
  base_url        text not null,
  organisation    text not null,              -- as the provider calls who the credential belongs to
  organisation_id text not null,              -- the provider's own id of it, or else the same: cursors are the organisation's
  history_days    integer not null,
  connected_at    integer not null,           -- of what happened before, nobody is notified
  feeds           text not null default '{}', -- JSON: cursors, failures, how far the history has come
  due_at          integer,                    -- null: paused, or the provider refuses the credential
  claim           text,
  claimed_until   integer not null default 0,
  paused_at       integer,
  refused_at      integer,
  health          integer not null default 1, -- as the connection has it, and since when
  health_at       integer not null default 0,
  notified_health integer not null default 1, -- what users were last notified of, and when
  notified_at     integer not null default 0
) strict, without rowid;
create index pulls_due on pulls (due_at) where due_at is not null;
create index pulls_to_notify on pulls (health_at) where health <> notified_health;
create unique index pulls_by_credential on pulls (account_id, credential_hash);

-- What the last refused records were refused for, and what could not be used of accepted ones, by record: the same one
-- again replaces itself.
create table pull_refusals (
  connection_id text not null references pulls (connection_id) on delete cascade,
  kind          text not null,
  source_id     text not null,
  accepted      integer not null,             -- whether the record was accepted all the same
  reason        text not null,
  at            integer not null,
  primary key (connection_id, kind, source_id)
) strict, without rowid;
create index pull_refusals_by_time on pull_refusals (connection_id, accepted, at);

-- Links by which somebody outside an account connects one provider to it, and can withdraw that. A link that was not used
-- is deleted some time after it has expired.
create table connect_links (
  id            text primary key,
  account_id    text not null references accounts (id),
  hash          text not null, -- of its secret, which is kept nowhere
  name          text not null, -- of who it is for
  created_at    integer not null,
  expires_at    integer not null,
  connection_id text references connections (id) on delete cascade, -- what was connected by it
  withdrawn_at  integer
) strict, without rowid;
create unique index connect_links_by_hash on connect_links (hash);
create index connect_links_by_account on connect_links (account_id, created_at, id);
create index connect_links_by_connection on connect_links (connection_id) where connection_id is not null;
