import { env } from 'cloudflare:workers';
import { nextRows } from '#src/operator/deletion/rows.ts';
import { tables } from '#src/operator/deletion/tables.ts';
import { world } from '#test/support/world.ts';

it.each(['drivers', 'notifications'])(
  'reads long rows of %s in pages that a Worker can hold, and each row once',
  async (name) => {
    const us = await world();
    const insert = {
      drivers: `insert into drivers (id, account_id, connection_id, source_id, name, search_keys, status, created_at, updated_at)
        select 'driver-' || value, ?1, ?2, value, hex(zeroblob(49000)), '[]', 1, value, value`,
      notifications: `insert into notifications (event_id, level, type, account_id, connection_id, data, created_at)
        select 'event-' || value, 0, 2, ?1, ?2, json_quote(hex(zeroblob(49000))), value`,
    }[name];
    const numbers = JSON.stringify(Array.from({ length: 200 }, (_, at) => at));
    await env.DB.prepare(`${insert} from json_each(?3)`)
      .bind(us.accountId, us.connection.id, numbers)
      .run();
    const table = tables.find((one) => one.name === name);
    if (!table) throw new Error(`there is no table ${name}`);
    const sizes = [];
    const seen = new Set<unknown>();
    for (let after: unknown[] | undefined, pages = 0; after || pages === 0; pages++) {
      const { rows, next } = await nextRows(env, table, us.accountId, after, 150);
      sizes.push(JSON.stringify(rows).length);
      for (const row of rows) seen.add(row[name === 'drivers' ? 'id' : 'event_id']);
      after = next;
    }
    expect(seen.size).toBe(200);
    expect(Math.max(...sizes)).toBeLessThan(8_000_000);
    expect(sizes.filter((size) => size > 2)).toHaveLength(3);
  },
);
