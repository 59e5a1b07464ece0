-- Connections that pull from a provider: one row each, with what its feeds have come to. The code before this one goes on
-- working: it knows nothing of the tables.
create table pulls (
  connection_id   text primary key,
  account_id      text not null,
  secrets         text not null,              -- sealed: the credential
  webhook_secret  text,                       -- sealed: what the provider signs its webhook's calls with
  credential_hash text not null,              -- so that an account does not connect the same credential twice
  session         text,                       -- sealed, for providers that have sessions
  base_url        text not null,
  organisation    text not null,              -- as the provider calls who the credential belongs to
  history_days    integer not null,
  connected_at    integer not null,           -- of what happened before, nobody is told
  feeds           text not null default '{}', -- JSON: cursors, failures, how far the history has come
  due_at          integer,                    -- null: paused, or the provider refuses the credential
  claim           text,
  claimed_until   integer not null default 0,
  paused_at       integer,
  refused_at      integer,
  health          integer not null default 1, -- as the connection has it, and since when
  health_at       integer not null default 0,
  told_health     integer not null default 1, -- what people were last told, and when
  told_at         integer not null default 0
) strict, without rowid;

-- Written every few minutes at most, while all goes well. Null: the connection pulls from nowhere, or has never.
alter table connections add column last_pulled_at integer;

create index pulls_due on pulls (due_at) where due_at is not null;
create index pulls_to_tell on pulls (health_at) where health <> told_health;
create unique index pulls_by_credential on pulls (account_id, credential_hash);

-- What the last refused records were refused for, by record: the same one again replaces itself.
create table pull_refusals (
  connection_id text not null references pulls (connection_id) on delete cascade,
  kind          text not null,
  source_id     text not null,
  reason        text not null,
  at            integer not null,
  primary key (connection_id, kind, source_id)
) strict, without rowid;
create index pull_refusals_by_time on pull_refusals (connection_id, at);

create trigger connection_taken after update of account_id on connections when old.account_id is not new.account_id begin
  delete from pulls where connection_id = old.id;
end;
create trigger connection_deleted after delete on connections begin
  delete from pulls where connection_id = old.id;
end;
