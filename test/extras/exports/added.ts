import type { Added } from '#test/support/added.ts';
import { addRow, later, ownRows } from '#test/support.ts';

export const added: Added = {
  bodies: { 'POST /exports': () => ({ lists: ['trips'] }) },
  contents: () => ({ exports: { wanted: '{}', expires_at: later } }),
  async mark({ us, ids }) {
    await addRow('exports', {
      account_id: us.accountId,
      requested_by: ids.people,
      finished_at: 1,
      expires_at: 1e15,
      wanted: '{"lists":["trips"],"formats":["csv"]}',
      files: '[{"name":"trips.csv","records":0,"bytes":0,"pieces":0}]',
    });
    const [made] = await ownRows(us, 'exports');
    return { exports: String(made?.id), ':file': 'trips.csv' };
  },
};
