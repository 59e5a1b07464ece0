-- The note of whoever takes care of an accident.
alter table accidents add column note text;
-- Those that need attention: nobody has acknowledged or closed them, at whatever level they are.
create index accidents_unattended on accidents (account_id, event_time, id)
  where dismissed = 0 and acknowledged is null and closed is null;
