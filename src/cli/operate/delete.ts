import { Command } from 'commander';
import type { DeletionProgress } from '../../operator/api/deletion.ts';
import { agrees, ask } from './ask.ts';
import { operatorFor } from './cells.ts';
import { ApiError, type Operator } from './client.ts';
import { printable, show } from './print.ts';

export const deleteAccountCommand = (): Command =>
  named('account', 'Suspend an account, and delete it with all of its data 30 days later')
    .option('--now', 'delete it at once: this cannot be undone')
    .addHelpText('after', '\nUntil deletion begins, fleet account activate cancels it.')
    .action(async (id, { now = false, yes }, command) => {
      const body = { name: yes ?? (await nameOf('account')), now };
      const operator = operatorFor(command);
      const accepted = await operator.call('POST /accounts/:id/deletion', { id, body });
      show(command, now ? await toTheEnd(operator, id, accepted) : (accepted.deletion ?? {}));
    });

export const deleteConnectionCommand = (): Command =>
  named('connection', 'Delete a connection with all of its records: this cannot be undone').action(
    async (id, { yes }, command) => {
      const body = { name: yes ?? (await nameOf('connection')) };
      const operator = operatorFor(command);
      const accepted = await operator.call('POST /connections/:id/deletion', { id, body });
      show(command, await toTheEnd(operator, id, accepted));
    },
  );

export const eraseDriverCommand = (): Command =>
  new Command('erase')
    .description('Erase a driver and every reference to them: this cannot be undone')
    .argument('<id>', 'id of the driver')
    .option('--yes', 'do not ask')
    .action(async (id, { yes }, command) => {
      const question = 'All data of this driver will be erased. Erase?';
      if (!yes && !(await agrees(question, noTerminal('--yes'))))
        throw new ApiError('Nothing has been erased');
      const operator = operatorFor(command);
      const accepted = await operator.call('POST /drivers/:id/erasure', { id });
      show(command, await toTheEnd(operator, id, accepted));
    });

const named = (kind: string, description: string): Command =>
  new Command('delete')
    .description(description)
    .argument('<id>', `id of the ${kind}`)
    .option('--yes <name>', `name of the ${kind}, instead of asking for it`);

/** The name of what to delete, as typed. */
const nameOf = (kind: string): Promise<string> =>
  ask(`To delete this ${kind}, type its name:`, noTerminal('--yes NAME'));

const noTerminal = (instead: string): string =>
  `stdin is not a terminal; pass ${instead}. Nothing has changed`;

/** Continues until nothing is left. If this is interrupted, the service continues by itself. */
async function toTheEnd(
  operator: Operator,
  id: string,
  { deletion }: DeletionProgress,
): Promise<object> {
  for (let remaining = deletion; remaining; ) {
    if (process.stderr.isTTY)
      console.error(
        printable(`${remaining.step} (${remaining.stepsDone + 1} of ${remaining.steps})`),
      );
    remaining = (await operator.call('POST /deletions/:id/continue', { id })).deletion;
    if (remaining?.problem)
      throw new ApiError(`It fails, and is tried again every ten minutes: ${remaining.problem}`);
  }
  return { id, deleted: true };
}
