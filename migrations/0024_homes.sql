-- Accounts that move to another home. The row of one that has moved stays behind and says where to.
alter table accounts add column home text;
alter table accounts add column frozen integer not null default 0;
