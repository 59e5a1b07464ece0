-- When a user's next daily summary is due, or null if they want none, and the zone of their browser as they asked for it.
alter table portal_users add column summary_due_at integer;
alter table portal_users add column summary_zone text;
create index portal_users_summaries on portal_users (summary_due_at) where summary_due_at is not null;
-- When a message last arrived, or null.
alter table alert_channels add column sent_at integer;
