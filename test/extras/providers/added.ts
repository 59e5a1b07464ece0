import type { Added } from '#test/support/added.ts';
import { addRow, addRows, later, ownRows } from '#test/support.ts';
import { samsaraOrigin } from './fleets/samsara.ts';
import { connect, pullRun } from './support.ts';

export const added: Added = {
  bodies: {
    'POST /operator/accounts/:id/connect-links': () => ({ name: 'Fleet' }),
    'PUT /operator/connections/:id/credential': () => ({ credential: 'samsara_api_1' }),
    'PUT /operator/connections/:id/webhook-secret': () => ({ secret: 'long-enough' }),
  },
  signed: ['POST /providers/:connectionId/webhook'], // test/extras/providers/connection.test.ts
  open: ['/portal/connect', '/portal/connect/withdraw'].flatMap((path) => [
    `GET ${path}`,
    `POST ${path}`,
  ]),
  contents: ({ accountId }) => ({
    connect_links: { hash: `connect-${accountId}`, expires_at: later },
  }),
  fill: (_, usual) =>
    addRow(
      'pulls',
      { secrets: '{}', base_url: 'https://x.example.com', organisation: 'Acme' },
      { usual },
    ),
  async mark({ mark, us, hooks }) {
    // A provider that calls the organisation so, and fails.
    hooks.serves(samsaraOrigin, (request) =>
      new URL(request.url).pathname === '/me'
        ? Response.json({ data: { name: mark } })
        : Response.json({ message: mark }, { status: 500 }),
    );
    const connections = await connect(us, 'samsara', mark.padEnd(8, '_'));
    const refused = { connection_id: connections, source_id: mark, reason: mark, at: Date.now() };
    await addRows('pull_refusals', 2, (accepted) => ({
      ...refused,
      kind: `${mark}${accepted}`,
      accepted,
    }));
    await pullRun(connections);
    await addRow('connect_links', {
      account_id: us.accountId,
      hash: mark + us.accountId,
      name: mark,
      expires_at: 1e15,
    });
    const [link] = await ownRows(us, 'connect_links');
    return { connections, links: String(link?.id) };
  },
};
