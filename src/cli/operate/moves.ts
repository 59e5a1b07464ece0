import { setTimeout as wait } from 'node:timers/promises';
import { Command } from 'commander';
import type { Move, MoveProgress } from '../../operator/api/moves.ts';
import { ApiError, type Operator } from './client.ts';
import { operatorFor } from './context.ts';
import { printable, show } from './print.ts';

/** How long the tool retries while the service is unreachable; the service continues by itself. */
const timeoutMs = 120_000;

export const moveAccountCommand = (): Command =>
  new Command('move')
    .description('Move an account and its data to another home')
    .argument('<id>', 'id of the account')
    .option('--to <home>', 'name of the new home')
    .option('--cancel', 'cancel a move before the account is switched')
    .addHelpText(
      'after',
      '\nIf this is interrupted, the service continues by itself. The same command shows the progress again.',
    )
    .action(async (id, { to, cancel = false }, command) => {
      if (cancel === (to !== undefined)) throw new ApiError('Give either --to HOME or --cancel');
      const operator = operatorFor(command);
      const call = (): Promise<MoveProgress> =>
        cancel
          ? operator.call('POST /accounts/:id/move/cancel', { id })
          : operator.call('POST /accounts/:id/move', { id, body: { to } });
      const { estimate } = await operator.call('GET /accounts/:id/move', { id });
      if (!cancel && estimate)
        console.error(
          `Moving ${estimate.rows} rows. Until they are copied, in about ${estimate.seconds} seconds at most, ` +
            'writes of this account get 503. Cancel with --cancel.',
        );
      show(command, await toTheEnd(operator, id, call));
    });

/** Continues until nothing is left to do. @throws ApiError, when the move has stopped */
async function toTheEnd(operator: Operator, id: string, call: () => Promise<MoveProgress>): Promise<Move> {
  let last = (await call()).move;
  for (let until = Date.now() + timeoutMs; ; ) {
    if (!last) throw new ApiError('The account is not being moved');
    if (last.state === 'done' || last.state === 'cancelled') return last;
    if (last.problem !== null)
      throw new ApiError(`The move has stopped: ${last.problem}. Cancel it with --cancel, and begin again`);
    if (process.stderr.isTTY)
      console.error(printable(`${last.state}: ${last.copied} of ${last.rows} rows copied`));
    try {
      // The service may have finished by itself.
      const { move } = await operator.call('GET /accounts/:id/move', { id });
      if (!move) return { ...last, state: last.state === 'cancelling' ? 'cancelled' : 'done' };
      last = (await call()).move;
      until = Date.now() + timeoutMs;
    } catch (error) {
      if (!(error instanceof ApiError && error.temporary) || Date.now() > until) throw error;
      await wait(2_000);
    }
  }
}
