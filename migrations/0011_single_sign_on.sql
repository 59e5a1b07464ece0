-- How people of an account sign in by its OpenID Connect provider, if its admins have set that.
create table single_sign_on (
  account_id   text primary key references accounts (id),
  issuer       text not null,
  client_id    text not null,
  secret       text not null check (json_valid(secret)), -- the client's, encrypted, bound to the account
  role         text check (role in ('admin', 'member', 'viewer')), -- of people whom nobody has invited, or null: refused
  link_user_id text not null -- the admin who can always sign in by an emailed link
) strict, without rowid;

-- The email domains whose people must sign in so, once they are proven to be the account's.
create table sign_in_domains (
  account_id text not null references accounts (id),
  domain     text not null,    -- in lower case
  proven_at  integer,          -- when its DNS last named the account, null: not proven
  checked_at integer not null, -- when its DNS was last asked
  primary key (account_id, domain)
) strict, without rowid;
-- A proven domain belongs to one account. The domain of each address that is typed to sign in is looked up here.
create unique index sign_in_domains_proven on sign_in_domains (domain) where proven_at is not null;
-- The job that checks them again reads those that are due.
create index sign_in_domains_due on sign_in_domains (proven_at) where proven_at is not null;
