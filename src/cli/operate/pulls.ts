import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import type { Pull } from '../../operator/api/connections.ts';
import { operatorFor } from './context.ts';
import { print, tableOf } from './print.ts';

/** fleet connection status|pause|resume|pull|credential|webhook-secret: for connections that pull from a provider */
export function pullCommands(): Command[] {
  return [
    onConnection('status', 'show how a connection that pulls from its provider is doing').action(
      async (id, _, command) =>
        showPull(command, await operatorFor(command).get('/connections/:id/pull', { id })),
    ),
    onConnection('pause', 'stop pulling until the connection is resumed').action(async (id, _, command) =>
      showPull(command, await operatorFor(command).post('/connections/:id/pause', { id })),
    ),
    onConnection('resume', 'pull again, from where the connection stopped').action(async (id, _, command) =>
      showPull(command, await operatorFor(command).post('/connections/:id/resume', { id })),
    ),
    onConnection('pull', 'pull now, whatever the connection waits for').action(async (id, _, command) =>
      showPull(command, await operatorFor(command).post('/connections/:id/pull', { id })),
    ),
    onConnection('credential', 'replace the credential, which is read from stdin; it is tried first').action(
      async (id, _, command) => {
        const body = { credential: await secretFrom('-') };
        showPull(command, await operatorFor(command).put('/connections/:id/credential', { id, body }));
      },
    ),
    onConnection(
      'webhook-secret',
      "save the secret of the provider's webhook, which is read from stdin",
    ).action(async (id, _, command) => {
      const body = { secret: await secretFrom('-') };
      showPull(command, await operatorFor(command).put('/connections/:id/webhook-secret', { id, body }));
    }),
  ];
}

/** A secret that is given as `-` comes from stdin, where neither the shell's history nor other users see it. */
export async function secretFrom(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trim() : given;
}

const onConnection = (name: string, description: string): Command =>
  new Command(name).description(description).argument('<id>', 'id of the connection');

const showPull = (command: Command, pull: Pull): void => print(command, pull, tablesOf);

const columns = ['provider', 'organisation', 'baseUrl', 'state', 'lastPulledAt'] as const;

function tablesOf(pull: Pull): string {
  const refused = pull.refusals.map(({ at, kind, sourceId, reason }) => [at, kind, sourceId, reason]);
  const unmapped = pull.unmapped.map(({ word, count }) => [word, count]);
  return [
    tableOf([columns.map((column) => pull[column])], [...columns]),
    tableOf(pull.feeds.map(feedRow), ['feed', 'every', 'problem', 'since', 'next try', 'history', 'done by']),
    ...(refused.length > 0 ? [tableOf(refused, ['refused', 'kind', 'sourceId', 'reason'])] : []),
    ...(unmapped.length > 0 ? [tableOf(unmapped, ['word that nothing maps', 'events'])] : []),
  ].join('\n');
}

type Feed = Pull['feeds'][number];

const feedRow = ({ feed, everyMinutes, problem, history }: Feed): unknown[] => [
  feed,
  everyMinutes === 1 ? 'minute' : `${everyMinutes} minutes`,
  problem?.advice ?? 'none',
  problem?.since,
  problem?.nextAt,
  history && historyOf(history),
  history?.endsAt,
];

function historyOf({ share, records, recordsPerMinute }: NonNullable<Feed['history']>): string {
  const rate = recordsPerMinute === null ? '' : `, ${recordsPerMinute} a minute`;
  return `${Math.floor(share * 100)} %, ${records} records${rate}`;
}
