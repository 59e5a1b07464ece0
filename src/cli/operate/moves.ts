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
      if (!cancel) showEstimate(await operator.call('GET /accounts/:id/move', { id }));
      show(command, await toTheEnd(operator, id, call));
    });

/** Continues until nothing is left to do. @throws ApiError, when the service cancels the move */
async function toTheEnd(operator: Operator, id: string, call: () => Promise<MoveProgress>): Promise<Move> {
  let last = (await call()).move;
  for (let until = Date.now() + timeoutMs; ; ) {
    if (!last) throw new ApiError('The account is not being moved');
    if (last.state === 'done' || last.state === 'cancelled') return last;
    if (last.problem !== null)
      throw new ApiError(`The service cancels the move, because ${last.problem}. Try again in some minutes`);
    showProgress(last);
    try {
      // The service may have finished by itself.
      const { move } = await operator.call('GET /accounts/:id/move', { id });
      if (!move) return { ...last, state: last.state === 'cancelling' ? 'cancelled' : 'done' };
      last = (await call()).move;
      until = Date.now() + timeoutMs;
    } catch (error) {
      if (!(error instanceof ApiError && error.temporary) || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 2_000));
    }
  }
}

/** Shows before a move begins what it will take. */
function showEstimate({ estimate }: MoveProgress): void {
  if (estimate)
    console.error(
      `Moving ${estimate.rows} rows. Until they are copied, in about ${estimate.seconds} seconds at most, ` +
        'writes of this account get 503. Cancel with --cancel.',
    );
}

function showProgress({ state, copied, rows }: Move): void {
  if (!process.stderr.isTTY) return;
  const share =
    state === 'copying' && rows > 0 ? ` ${Math.floor((100 * copied) / rows)}% of ${rows} rows` : '';
  console.error(printable(`${state}${share}`));
}
