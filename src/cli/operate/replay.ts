import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { ApiError, type Operator } from './client.ts';
import { operatorFor } from './context.ts';
import { printable } from './printable.ts';
import { show } from './table.ts';

type Count = { count: number; more: boolean; tooOld: number };
type Replayed = { replayed: number; more: boolean; next?: string };
type Selection = { since?: string; until?: string; includeDelivered?: boolean };

/** The service counts no further: such a count stands for itself or more. */
const maxCounted = 10_000;

/** fleet deliveries replay */
export function replayCommand(): Command {
  return new Command('replay')
    .description('send finished deliveries again, on a new retry schedule')
    .argument('[id]', 'Delivery-Id of one delivery')
    .option('--webhook <id>', 'what a webhook has missed: what failed, or was cancelled')
    .option('--all', 'with --webhook: also what was delivered')
    .option('--since <time>', 'with --webhook: only those since a time')
    .option('--until <time>', 'with --webhook: only those before a time')
    .option('--dry-run', 'with --webhook: only count them')
    .option('--yes', 'with --webhook: do not ask')
    .action(async (id, { webhook, since, until, all, dryRun, yes }, command: Command) => {
      if (!id === !webhook) command.error('error: give either a Delivery-Id or --webhook');
      if (id && (since || until || all || dryRun)) command.error('error: the options need --webhook');
      const operator = operatorFor(command);
      if (id) {
        const path = `/deliveries/${encodeURIComponent(id)}/replay`;
        return show(command, await operator.post<Replayed>(path, {}), ['replayed']);
      }
      const path = `/webhooks/${encodeURIComponent(webhook)}/replay`;
      const selection = { since, until, ...(all && { includeDelivered: true }) };
      const count = await operator.get<Count>(`${path}?${queryOf(selection)}`);
      const counted = inWords(count, all);
      if (dryRun && command.optsWithGlobals().json) return show(command, count, []);
      if (dryRun) return console.log(counted);
      const isEmpty = count.count === 0 && !count.more;
      if (yes || isEmpty) console.error(counted);
      else if (!(await agrees(counted))) throw new ApiError('Nothing has been replayed');
      const done = isEmpty ? { replayed: 0, more: false } : await replayAll(operator, path, selection);
      show(command, done, ['replayed']);
    });
}

function queryOf(selection: Selection): URLSearchParams {
  const given = Object.entries(selection).filter(([, value]) => value !== undefined);
  return new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
}

/** What would be replayed, in sentences. */
function inWords({ count, more, tooOld }: Count, all: boolean): string {
  const found =
    more && count < maxCounted
      ? `${count} of the first ${maxCounted} deliveries can be replayed, and there are others after them.`
      : `${count}${more ? ' or more' : ''} ${count === 1 ? 'delivery' : 'deliveries'} can be replayed.`;
  const old = `${tooOld}${tooOld === maxCounted ? ' or more' : ''} ${tooOld === 1 ? 'is' : 'are'} too old and left out.`;
  const repeats = 'Receivers will see a repeat of what was delivered.';
  return printable([found, tooOld && old, all && repeats].filter(Boolean).join(' '));
}

/** Asks at the terminal. @throws ApiError when there is none */
async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY)
    throw new ApiError(`${question} Give --yes to replay them: there is no terminal to ask at`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(130));
  const answer = await terminal.question(`${question} Replay? [y/N] `);
  terminal.close();
  return /^y(es)?$/i.test(answer.trim());
}

/** Replays to the end, however many calls that takes. @throws ApiError, which says how far it came */
async function replayAll(operator: Operator, path: string, selection: Selection): Promise<Replayed> {
  let replayed = 0;
  for (let after: string | undefined; ; ) {
    const part = await operator.post<Replayed>(path, { ...selection, after }).catch((error) => {
      throw after
        ? new ApiError(`${error.message}. ${replayed} replayed; go on with --since ${timeOf(after)}`)
        : error;
    });
    replayed += part.replayed;
    if (part.next === undefined) return { replayed, more: part.more };
    after = part.next;
    if (process.stderr.isTTY) console.error(`${replayed} replayed so far`);
  }
}

/** When the delivery with this id was created: it is a UUID of version 7. */
const timeOf = (id: string): string =>
  new Date(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toISOString();
