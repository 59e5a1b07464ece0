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

-- Who was notified of an accident, and so is notified if it turns out to be a false alarm.
create table accident_alerts (
  accident_id  text not null references accidents (id) on delete cascade,
  recipient_id text not null, -- the user or the channel
  account_id   text not null,
  at           integer not null,
  dismissed    integer not null check (dismissed in (0, 1)), -- 1: of the false alarm as well
  primary key (accident_id, recipient_id)
) strict, without rowid;
create index accident_alerts_by_account on accident_alerts (account_id, accident_id, recipient_id);

create table mail_feeds (
  account_id text primary key,
  seen       integer not null -- the last of `changes` that was looked at
) strict, without rowid;

-- Where an account is notified besides email: channels of Slack and Microsoft Teams, and HTTPS endpoints.
create table alert_channels (
  id          text primary key,
  account_id  text not null references accounts (id),
  kind        text not null check (kind in ('slack', 'teams', 'https')),
  name        text not null,
  address     text not null check (json_valid(address)), -- encrypted: the URL, which is a secret
  host        text not null,                             -- what is shown of it
  last_four   text not null,
  gets_alerts integer not null,                          -- 1: is notified of problems with webhooks and connections
  created_at  integer not null,
  problem     text,                                      -- why the last message did not arrive, or null
  problem_at  integer,
  sent_at     integer                                    -- when a message last arrived, or null
) strict, without rowid;
create index alert_channels_by_account on alert_channels (account_id, created_at, id);

-- What users will be emailed and channels will be notified of: one message for each recipient and kind of news, which
-- grows until it has been sent. Only the first twenty items are kept, and how many there are. Without news for three
-- days a message that does not arrive is deleted.
create table alert_messages (
  account_id   text not null,
  recipient_id text not null, -- the user or the channel
  kind         text not null check (kind in ('paused', 'failed', 'working', 'connection', 'record')),
  items        text not null check (json_valid(items)),
  total        integer not null,
  added_at     integer not null, -- when it last grew
  due_at       integer not null,
  attempts     integer not null default 0,
  primary key (account_id, recipient_id, kind)
) strict, without rowid;
create index alert_messages_due on alert_messages (due_at);

-- How many messages an account has been sent on a day, and how many of them were emails: both are limited.
create table alerts_sent (
  account_id text not null,
  day        integer not null, -- days since 1970, UTC: older ones are deleted
  messages   integer not null,
  emails     integer not null,
  primary key (account_id, day)
) strict, without rowid;
