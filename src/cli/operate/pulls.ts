import { text } from 'node:stream/consumers';
import { Command } from 'commander';
import { operatorFor } from './context.ts';
import { printableJson } from './printable.ts';
import { show, tableOf } from './table.ts';

type Pull = {
  provider: string;
  organisation: string;
  baseUrl: string;
  state: 'pulling' | 'paused' | 'refused';
  lastPulledAt: string | null;
  feeds: Feed[];
  refusals: { kind: string; sourceId: string; reason: string; at: string }[];
  unmapped: { word: string; count: number }[];
};
type Feed = {
  feed: string;
  everyMinutes: number;
  problem: { advice: string; since: string; nextAt: string } | null;
  history: { share: number; records: number; recordsPerMinute: number | null; endsAt: string | null } | null;
};

/** fleet connection status|pause|resume|pull|credential|webhook-secret: for connections that pull from a provider */
export function pullCommands(): Command[] {
  return [
    onConnection('status', 'show how a connection that pulls from its provider is doing').action(
      async (id, _, command) => print(command, await operatorFor(command).get<Pull>(pathOf(id, 'pull'))),
    ),
    onConnection('pause', 'stop pulling until the connection is resumed').action((id, _, command) =>
      act(command, pathOf(id, 'pause')),
    ),
    onConnection('resume', 'pull again, from where the connection stopped').action((id, _, command) =>
      act(command, pathOf(id, 'resume')),
    ),
    onConnection('pull', 'pull now, whatever the connection waits for').action((id, _, command) =>
      act(command, pathOf(id, 'pull')),
    ),
    onConnection('credential', 'replace the credential, which is read from stdin; it is tried first').action(
      async (id, _, command) => {
        const credential = await secretFrom('-');
        print(command, await operatorFor(command).put<Pull>(pathOf(id, 'credential'), { credential }));
      },
    ),
    onConnection(
      'webhook-secret',
      "save the secret of the provider's webhook, which is read from stdin",
    ).action(async (id, _, command) => {
      const secret = await secretFrom('-');
      print(command, await operatorFor(command).put<Pull>(pathOf(id, 'webhook-secret'), { secret }));
    }),
  ];
}

/** A secret that is given as `-` comes from stdin, where neither the shell's history nor other users see it. */
export async function secretFrom(given: string): Promise<string> {
  return given === '-' ? (await text(process.stdin)).trim() : given;
}

const onConnection = (name: string, description: string): Command =>
  new Command(name).description(description).argument('<id>', 'id of the connection');

const pathOf = (id: string, what: string): string => `/connections/${encodeURIComponent(id)}/${what}`;

async function act(command: Command, path: string): Promise<void> {
  print(command, await operatorFor(command).post<Pull>(path, {}));
}

function print(command: Command, pull: Pull): void {
  if (command.optsWithGlobals().json) {
    console.log(printableJson(pull));
    return;
  }
  show(command, pull, ['provider', 'organisation', 'baseUrl', 'state', 'lastPulledAt']);
  console.log(
    tableOf(pull.feeds.map(feedRow), ['feed', 'every', 'problem', 'since', 'next try', 'history', 'done by']),
  );
  if (pull.refusals.length > 0)
    console.log(
      tableOf(
        pull.refusals.map(({ at, kind, sourceId, reason }) => [at, kind, sourceId, reason]),
        ['refused', 'kind', 'sourceId', 'reason'],
      ),
    );
  if (pull.unmapped.length > 0)
    console.log(
      tableOf(
        pull.unmapped.map(({ word, count }) => [word, count]),
        ['word that nothing maps', 'events'],
      ),
    );
}

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
