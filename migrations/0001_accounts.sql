-- Accounts, who may act for them, and what was done. In all files: times are milliseconds since 1970, UTC, and ids are
-- UUIDs.
-- Migrations are written by hand, because Drizzle writes neither WITHOUT ROWID nor triggers nor why an index exists. A
-- test compares them with the tables that are declared in Drizzle.

create table accounts (
  id         text primary key,
  name       text not null,
  status     text not null default 'active' check (status in ('active', 'suspended', 'moving', 'moved')),
  created_at integer not null,
  cell       text,                      -- where it is, if it has moved to another cell: this row stays behind
  units      text not null default 'metric' check (units in ('metric', 'imperial')), -- as its users chose for the portal
  quotas     text not null default '{}' check (json_valid(quotas)), -- what it may add a day, where operators have set that
  held       integer not null default 0 -- 1: it adds most to a database that is nearly full, and may not for now
) strict, without rowid;
create index accounts_by_time on accounts (created_at, id);
-- For a credential that is unknown here, because its account may have moved.
create index accounts_moved on accounts (cell) where status = 'moved';

-- Nobody's account: connections belong to it from the moment that their deletion begins, so that whoever asks for those
-- of an account does not find them.
insert into accounts (id, name, status, created_at)
values ('00000000-0000-0000-0000-000000000000', 'Nobody', 'suspended', 0);

-- A connection to a provider: a source of records of one account. It stands before what refers to it, or what `wrangler
-- d1 export` writes could not be restored.
create table connections (
  id                text primary key,
  account_id        text not null references accounts (id),
  name              text,
  provider          text not null,
  tsp               text not null, -- the name of the provider, as receivers see it
  health_status     integer not null default 1 check (health_status between 1 and 4),
  incident_type_map text check (json_valid(incident_type_map)),
  created_at        integer not null,
  updated_at        integer not null,
  last_pulled_at    integer,       -- written every few minutes at most while all goes well, null if it never pulled
  silent_since      integer,       -- of one that a connector feeds: since when it is known to be silent
  external_id       text,          -- the account's own identifier
  notifies_nobody   integer not null default 0 check (notifies_nobody in (0, 1)), -- as its account wants it: no warning
  held_back         integer not null default 0, -- safety events that were too old for notifications when they came in
  held_back_at      integer        -- when that last happened
) strict, without rowid;
create unique index connections_by_external on connections (account_id, external_id) where external_id is not null;
create index connections_by_account on connections (account_id, created_at, id);
-- For the count in the menu, which reads no more than it counts.
create index connections_with_problems on connections (account_id, created_at, id) where health_status <> 1;

-- API tokens (no connection) and ingest keys (one connection) alike. The value itself is kept nowhere.
create table tokens (
  id            text primary key,
  account_id    text not null references accounts (id),
  connection_id text references connections (id),
  scope         text not null check (scope in ('api', 'ingest')),
  read_only     integer not null default 0 check (read_only in (0, 1)),
  name          text not null,
  hash          text not null,
  last_four     text not null,
  created_at    integer not null,
  expires_at    integer,
  last_used_at  integer,
  revoked_at    integer,
  check ((scope = 'ingest') = (connection_id is not null))
) strict, without rowid;
create unique index tokens_by_hash on tokens (hash);
create index tokens_by_account on tokens (account_id, created_at, id);
-- Lists and limits of credentials read those that are active, however many have been revoked.
create index tokens_active on tokens (account_id, scope, created_at, id) where revoked_at is null;
create index tokens_active_by_connection on tokens (connection_id, created_at, id) where revoked_at is null;
-- For deleting a connection, whose row these refer to.
create index tokens_by_connection on tokens (connection_id) where connection_id is not null;
-- For deleting what is over, without reading what is not.
create index tokens_by_expiry on tokens (expires_at) where expires_at is not null;
create index tokens_by_revocation on tokens (revoked_at) where revoked_at is not null;

-- The users of accounts. Whoever has been invited is pending until they have used a link. An address may be a person of
-- several accounts.
create table portal_users (
  id              text primary key,
  account_id      text not null references accounts (id),
  email           text not null,              -- in lower case
  created_at      integer not null,
  last_sign_in_at integer,
  confirmed_at    integer,                    -- null: pending
  gets_alerts     integer not null default 1, -- 0: has turned these emails off
  role            text not null default 'admin' check (role in ('admin', 'member', 'viewer')),
  time_zone       text,                       -- as they chose, by its IANA name, or null for that of their browser
  links_at        text not null default '[]' check (json_valid(links_at)), -- when they asked for sign-in links in the last day
  subject         text                        -- the hash of what their provider called them by first, since its settings are as they are
) strict, without rowid;
create unique index portal_users_by_address on portal_users (email, account_id);
create index portal_users_by_account on portal_users (account_id, created_at, id);
create index portal_users_alerted on portal_users (account_id, created_at, id)
  where confirmed_at is not null and gets_alerts = 1;

-- Of which accidents and safety events a user is emailed, or a channel of a team is notified. A job follows the account's
-- changes as far as `mail_feeds` says, and adds what is wanted to `alert_messages` in the same transaction.
create table mail_rules (
  recipient_id text primary key, -- the user or the channel
  account_id   text not null,
  levels       integer not null check (levels between 0 and 7), -- of accidents, as bits: 1, 2 and 4
  risk         integer check (risk between 1 and 5),            -- the least of safety events, or null for none of these
  groups       text check (json_valid(groups)),                 -- of vehicles, or null for all
  group_keys   text check (json_valid(group_keys)),             -- the same as they are compared
  since        integer not null
) strict, without rowid;
create index mail_rules_by_account on mail_rules (account_id);
create trigger mail_rules_of_users after delete on portal_users BEGIN delete from mail_rules where recipient_id = old.id; END;

create table mail_feeds (
  account_id text primary key,
  seen       integer not null -- the last of `changes` that was looked at
) strict, without rowid;

-- The invitations of the last day, to limit them: an account that removes whom it has invited still has invited them.
create table invitations (
  account_id text not null references accounts (id),
  id         text not null,
  email      text not null,
  sent_at    integer not null,
  emailed    integer not null check (emailed in (0, 1)), -- 0: somebody had emailed them within the hour
  primary key (account_id, id)
) strict, without rowid;
create index invitations_by_email on invitations (email, sent_at);

-- Links in emails that sign a user in. Of links and sessions only the hash of the secret is kept.
create table sign_in_links (
  hash       text primary key,
  user_id    text not null references portal_users (id) on delete cascade,
  expires_at integer not null,
  form       text           -- the hash of the form that asked for it, which may be sent twice
) strict, without rowid;
create unique index sign_in_links_by_form on sign_in_links (form) where form is not null;
create index sign_in_links_by_user on sign_in_links (user_id);
create index sign_in_links_by_expiry on sign_in_links (expires_at);

create table sessions (
  hash       text primary key,
  user_id    text not null references portal_users (id) on delete cascade,
  expires_at integer not null
) strict, without rowid;
create index sessions_by_user on sessions (user_id);
create index sessions_by_expiry on sessions (expires_at);

-- Forms of the portal that have taken effect within the last hour, so that none does twice. A row is written in the
-- transaction of what the form asked for.
create table sent_forms (
  account_id text not null,
  id         text not null, -- the form's key, which is random
  request_id text not null, -- the request that handles it: another one with this key writes nothing
  at         integer not null,
  primary key (account_id, id)
) strict, without rowid;
create index sent_forms_by_age on sent_forms (at);

-- Who created, changed or deleted what in an account, and when. `seq` numbers the entries of an account in the order in
-- which they were committed. A row is written in the transaction of the change that it records.
create table audit_log (
  account_id   text not null,
  seq          integer not null,
  at           integer not null,
  actor        text not null check (actor in ('operator', 'person', 'token', 'service')),
  actor_id     text,          -- of the user or token
  actor_name   text,          -- as it was then: the address of a user, the name of a token
  action       text not null,
  subject      text not null, -- the kind of thing
  subject_id   text not null,
  subject_name text,          -- as it was then (of a webhook, the host alone)
  fields       text not null default '[]' check (json_valid(fields)), -- what was changed, by name
  primary key (account_id, seq)
) strict, without rowid;
create index audit_log_by_time on audit_log (at);
-- Who created an API token: an entry of this index is written with a new token alone.
create index audit_log_new_tokens on audit_log (subject_id) where subject = 'API token' and action = 'created';
