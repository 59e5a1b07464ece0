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
  subject         text,                        -- the hash of what their provider called them by first, since its settings are as they are
  summary_due_at  integer,                    -- when their next daily summary is due, or null if they want none
  summary_zone    text                        -- the zone of their browser as they asked for it
) strict, without rowid;
create unique index portal_users_by_address on portal_users (email, account_id);
create index portal_users_by_account on portal_users (account_id, created_at, id);
create index portal_users_alerted on portal_users (account_id, created_at, id)
  where confirmed_at is not null and gets_alerts = 1;
create index portal_users_summaries on portal_users (summary_due_at) where summary_due_at is not null;

-- The invitations of the last day, to limit them: an account that removes whom it has invited still has invited them.
create table invitations (
  account_id text not null references accounts (id),
  id         text not null,
  email      text not null,
  sent_at    integer not null,
  emailed    integer not null check (emailed in (0, 1)), -- 0: somebody had emailed them within the hour
  primary key (account_id, id)
) strict, without rowid;
create index invitations_by_age on invitations (sent_at, email);

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

-- People who were removed, by the hash of their address: their provider does not add them again.
create table removed_people (
  account_id text not null references accounts (id),
  hash       text not null,
  primary key (account_id, hash)
) strict, without rowid;
