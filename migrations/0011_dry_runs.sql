-- What a dry run of records has found so far. It undoes all that it writes, so nothing is ever left here.
create table dry_runs (place integer primary key, value any) strict;
