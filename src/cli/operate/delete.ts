import { createInterface } from 'node:readline/promises';
import { Command } from 'commander';
import { ApiError, type Operator } from './client.ts';
import { operatorFor } from './context.ts';
import { printable } from './printable.ts';
import { show } from './table.ts';

type Deletion = {
  id: string;
  kind: string;
  dueAt: string;
  step: string | null;
  stepsDone: number;
  steps: number;
};
type Progress = { deletion: Deletion | null };

const columns = ['id', 'kind', 'accountId', 'requestedAt', 'dueAt', 'step', 'stepsDone', 'steps'];

/** fleet account delete */
export const deleteAccountCommand = (): Command =>
  new Command('delete')
    .description('suspend an account, and delete it with all that it has 30 days later')
    .argument('<id>', 'id of the account')
    .option('--now', 'delete it at once: this cannot be undone')
    .option('--yes <name>', 'name of the account, instead of asking for it')
    .addHelpText('after', '\nUntil it begins, fleet account activate cancels it.')
    .action(async (id, { now = false, yes }, command) => {
      const name = await nameOf('account', yes);
      const operator = operatorFor(command);
      const path = `/accounts/${encodeURIComponent(id)}/deletion`;
      const accepted = await operator.post<Progress>(path, { name, now });
      if (!now) return show(command, accepted.deletion ?? {}, columns);
      show(command, { id, deleted: await toTheEnd(operator, id, accepted) }, ['id', 'deleted']);
    });

/** fleet connection delete */
export const deleteConnectionCommand = (): Command =>
  new Command('delete')
    .description('delete a connection with all of its records: this cannot be undone')
    .argument('<id>', 'id of the connection')
    .option('--yes <name>', 'name of the connection, instead of asking for it')
    .action(async (id, { yes }, command) => {
      const name = await nameOf('connection', yes);
      const operator = operatorFor(command);
      const path = `/connections/${encodeURIComponent(id)}/deletion`;
      const accepted = await operator.post<Progress>(path, { name });
      show(command, { id, deleted: await toTheEnd(operator, id, accepted) }, ['id', 'deleted']);
    });

/** fleet driver … */
export function driverCommands(): Command {
  const driver = new Command('driver').description('erase what is known of a driver');
  driver
    .command('erase')
    .description('erase a driver and every reference to them: this cannot be undone')
    .argument('<id>', 'id of the driver')
    .option('--yes', 'do not ask')
    .action(async (id, { yes }, command) => {
      const question = 'Everything that is known of this driver will be erased. Erase? [y/N] ';
      if (!yes && !/^y(es)?$/i.test(await ask(question, '--yes')))
        throw new ApiError('Nothing has been erased');
      const operator = operatorFor(command);
      const path = `/drivers/${encodeURIComponent(id)}/erasure`;
      const accepted = await operator.post<Progress>(path, {});
      show(command, { id, erased: await toTheEnd(operator, id, accepted) }, ['id', 'erased']);
    });
  return driver;
}

/** fleet deletions */
export const deletionsCommand = (): Command =>
  new Command('deletions')
    .description('show what is being deleted, or will be')
    .action(async (_, command) => show(command, await operatorFor(command).get('/deletions'), columns));

/** The name of what is to be deleted, as the person types it. */
const nameOf = async (kind: string, given: string | undefined): Promise<string> =>
  given ?? (await ask(`To delete this ${kind}, type its name: `, '--yes NAME'));

/** Asks at the terminal. @throws ApiError when there is none */
async function ask(question: string, instead: string): Promise<string> {
  if (!process.stdin.isTTY)
    throw new ApiError(`Give ${instead}: there is no terminal to ask at. Nothing has changed`);
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  terminal.on('SIGINT', () => process.exit(130));
  const answer = await terminal.question(question);
  terminal.close();
  return answer.trim();
}

/** Goes on until nothing is left. If this is interrupted, the service goes on by itself. */
async function toTheEnd(operator: Operator, id: string, { deletion }: Progress): Promise<true> {
  for (let left = deletion; left; ) {
    if (process.stderr.isTTY)
      console.error(printable(`${left.step} (${left.stepsDone + 1} of ${left.steps})`));
    const path = `/deletions/${encodeURIComponent(id)}/continue`;
    left = (await operator.post<Progress>(path, {})).deletion;
  }
  return true;
}
