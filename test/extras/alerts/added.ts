import type { Added } from '#test/support/added.ts';
import { addRow, later } from '#test/support.ts';

export const added: Added = {
  bodies: {
    'POST /operator/accounts/:id/channels': () => ({
      name: 'x',
      kind: 'slack',
      url: 'https://x.example.com',
    }),
  },
  contents: ({ accountId }) => ({
    alert_channels: { id: `h-${accountId}`, kind: 'https', address: '{}' },
    alert_messages: { kind: 'paused', due_at: later },
  }),
  async mark({ mark, us }) {
    const channels = `h-${us.accountId}`;
    await addRow('alert_channels', {
      id: channels,
      account_id: us.accountId,
      kind: 'https',
      name: mark,
      address: '{}',
      host: mark,
      last_four: mark.slice(-4),
      gets_alerts: 1,
      created_at: 1,
      problem: mark,
      problem_at: 1,
    });
    return { channels };
  },
};
