import { Command } from 'commander';
import type { DeletionProgress } from '../../operator/api/deletion.ts';
import { agrees, ask } from './ask.ts';
import { ApiError, type Operator } from './client.ts';
import { operatorFor } from './context.ts';
import { printable, show } from './print.ts';

export const deleteAccountCommand = (): Command =>
  new Command('delete')
    .description('Suspend an account, and delete it with all of its data 30 days later')
    .argument('<id>', 'id of the account')
    .option('--now', 'delete it at once: this cannot be undone')
    .option('--yes <name>', 'name of the account, instead of asking for it')
    .addHelpText('after', '\nUntil deletion begins, fleet account activate cancels it.')
    .action(async (id, { now = false, yes }, command) => {
      const name = await nameOf('account', yes);
      const operator = operatorFor(command);
      const accepted = await operator.call('POST /accounts/:id/deletion', { id, body: { name, now } });
      if (!now) return show(command, accepted.deletion ?? {});
      show(command, { id, deleted: await toTheEnd(operator, id, accepted) });
    });

export const deleteConnectionCommand = (): Command =>
  new Command('delete')
    .description('Delete a connection with all of its records: this cannot be undone')
    .argument('<id>', 'id of the connection')
    .option('--yes <name>', 'name of the connection, instead of asking for it')
    .action(async (id, { yes }, command) => {
      const name = await nameOf('connection', yes);
      const operator = operatorFor(command);
      const accepted = await operator.call('POST /connections/:id/deletion', { id, body: { name } });
      show(command, { id, deleted: await toTheEnd(operator, id, accepted) });
    });

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
      show(command, { id, erased: await toTheEnd(operator, id, accepted) });
    });

/** The name of what to delete, as typed. */
const nameOf = async (kind: string, given: string | undefined): Promise<string> =>
  given ?? (await ask(`To delete this ${kind}, type its name:`, noTerminal('--yes NAME')));

const noTerminal = (instead: string): string =>
  `stdin is not a terminal; pass ${instead}. Nothing has changed`;

/** Continues until nothing is left. If this is interrupted, the service continues by itself. */
async function toTheEnd(operator: Operator, id: string, { deletion }: DeletionProgress): Promise<true> {
  for (let left = deletion; left; ) {
    if (process.stderr.isTTY)
      console.error(printable(`${left.step} (${left.stepsDone + 1} of ${left.steps})`));
    left = (await operator.call('POST /deletions/:id/continue', { id })).deletion;
  }
  return true;
}
