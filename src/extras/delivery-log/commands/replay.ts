import { Command } from 'commander';
import { agrees } from '../../../cli/operate/ask.ts';
import { operatorFor } from '../../../cli/operate/cells.ts';
import { ApiError, type Operator } from '../../../cli/operate/client.ts';
import { printable, show } from '../../../cli/operate/print.ts';
import { createdAtOf } from '../../../core/platform/db/ids.ts';
import type { ReplayCount, Replayed } from '../operations.ts';

type ToReplay = { since?: string; until?: string; includeDelivered?: boolean };

export function replayCommand(): Command {
  return new Command('replay')
    .description('Send finished deliveries again, on a new retry schedule')
    .argument('[id]', 'Delivery-Id of one delivery')
    .option('--webhook <id>', 'replay what a webhook has missed: failed or cancelled deliveries')
    .option('--all', 'with --webhook: also those that were delivered')
    .option('--since <time>', 'with --webhook: only those since a time')
    .option('--until <time>', 'with --webhook: only those before a time')
    .option('--dry-run', 'with --webhook: only count them')
    .option('--yes', 'with --webhook: do not ask')
    .action(async (id, { webhook, since, until, all, dryRun, yes }, command: Command) => {
      if (!id === !webhook) command.error('error: give either a Delivery-Id or --webhook');
      if (id && (since || until || all || dryRun))
        command.error('error: the options need --webhook');
      const operator = operatorFor(command);
      if (id) return show(command, await operator.call('POST /deliveries/:id/replay', { id }));
      const range = { since, until };
      const count = await operator.call('GET /webhooks/:id/replay', {
        id: webhook,
        query: { ...range, ...(all && { includeDelivered: 'true' }) },
      });
      const counted = inWords(count, all);
      if (dryRun) return show(command, count, () => counted);
      if (yes) console.error(counted);
      else if (!(await agrees(`${counted} Replay?`, `${counted} ${noTerminal}`)))
        throw new ApiError('Nothing has been replayed');
      const selection = { ...range, ...(all && { includeDelivered: true }) };
      show(command, await replayAll(operator, webhook, selection));
    });
}

const noTerminal = 'stdin is not a terminal; pass --yes to replay them';

/** What would be replayed, in sentences. */
function inWords({ count, more, tooOld }: ReplayCount, all: boolean): string {
  const sentences = [
    `Deliveries that can be replayed: ${count}${more ? ' or more' : ''}.`,
    tooOld > 0 && `Left out because they are too old: ${tooOld}.`,
    all && 'Receivers will see a repeat of what was delivered.',
  ];
  return printable(sentences.filter(Boolean).join(' '));
}

/** Replays all, in as many calls as that takes. @throws ApiError, which says how far it got */
async function replayAll(
  operator: Operator,
  id: string,
  selection: ToReplay,
): Promise<Pick<Replayed, 'replayed'>> {
  let replayed = 0;
  for (let after: string | undefined; ; ) {
    const body = { ...selection, after };
    const part: Replayed = await operator
      .call('POST /webhooks/:id/replay', { id, body })
      .catch((error) => {
        if (!after) throw error;
        const from = new Date(createdAtOf(after)).toISOString();
        throw new ApiError(`${error.message}. ${replayed} replayed; continue with --since ${from}`);
      });
    replayed += part.replayed;
    if (part.next === undefined) return { replayed };
    after = part.next;
  }
}
