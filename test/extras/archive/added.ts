import { env } from 'cloudflare:workers';
import { folderOf } from '#src/extras/archive/bucket.ts';
import type { Added } from '#test/support/added.ts';

export const added: Added = {
  bodies: {
    'POST /operator/connections/:id/archive/repair': () => ({ kind: 'trips', date: '2026-05-31' }),
  },
  contents: () => ({ archived_days: { kind: 'trips', day: 20_000 } }),
  async fill({ accountId, connection }) {
    const day = { kind: 'trips', accountId, connectionId: connection.id, day: 20_000 };
    for (let file = 0; file < 3; file++)
      await env.ARCHIVE.put(`${folderOf(day)}part-${file}.parquet`, `file ${file}`, {
        customMetadata: { label: `${file}` },
      });
  },
};
