-- The people of accounts. An address belongs to one account.
create table portal_users (
  id              text primary key,
  account_id      text not null references accounts (id),
  email           text not null, -- in lower case
  created_at      integer not null,
  last_sign_in_at integer
) strict, without rowid;
create unique index portal_users_by_email on portal_users (email);
create index portal_users_by_account on portal_users (account_id, created_at, id);

-- Of links and sessions only the hash of the secret is kept.
create table sign_in_links (
  hash       text primary key,
  user_id    text not null references portal_users (id) on delete cascade,
  expires_at integer not null
) strict, without rowid;

create table sessions (
  hash       text primary key,
  user_id    text not null references portal_users (id) on delete cascade,
  expires_at integer not null
) strict, without rowid;
create index sessions_by_user on sessions (user_id);
