import type { Command } from 'commander';
import {
  ApiError,
  type Call,
  type Data,
  type Given,
  type Operator,
  operatorOf,
  type Service,
} from './client.ts';
import { serviceAt, serviceOf } from './context.ts';
import { printable } from './print.ts';

/** Behind a router, without --cell, it stays with the first cell that knows an id. */
export function operatorFor(command: Command): Operator {
  const service = serviceOf(command);
  let operator = operatorOf(service);
  return {
    download: (path, file) => operator.download(path, file),
    async call(call, ...asked) {
      try {
        return await operator.call(call, ...asked);
      } catch (error) {
        const cells = cellsToChoose(service, error);
        if (!/\/:id|\/deliveries$/.test(call)) throw error;
        const found = await firstToKnow(service.baseUrl, cells, (one) => one.call(call, ...asked));
        operator = found.operator;
        return found.data;
      }
    },
  };
}

/** The cells of a router that refuses a call because it names none. @throws any other error */
function cellsToChoose({ cell }: Service, error: unknown): string[] {
  const { cells = [] } = error instanceof ApiError ? error.reasons : {};
  if (cell || cells.length === 0) throw error;
  return cells;
}

/** The first cell that knows what is asked about, and its reply. @throws ApiError */
async function firstToKnow<T>(
  baseUrl: string,
  cells: string[],
  ask: (operator: Operator) => Promise<T>,
) {
  let refusal: unknown;
  for (const cell of cells)
    try {
      const operator = operatorOf(serviceAt(baseUrl, cell));
      return { operator, data: await ask(operator) };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isUnknown = /^(400 Unknown|421) /.test(error.message);
      // Another cell may know it, though this one cannot say. If none does, that has to be said.
      if (isUnknown) refusal ??= error;
      else if (error.reasons.temporary || !/^\d/.test(error.message)) refusal = inCell(cell, error);
      else throw error;
    }
  throw refusal;
}

const inCell = (cell: string, { message, reasons }: ApiError): ApiError =>
  new ApiError(`${cell}: ${message}`, reasons);

/** What a cell replied; the only one of a service without a router has no name. */
export type OfCell<T> = { cell?: string; data: T };

/** Asks the chosen cell, or all. A cell that does not respond makes the command exit with 1. */
export async function askAll<C extends Call>(
  command: Command,
  call: C,
  ...asked: Given<C>
): Promise<OfCell<Data<C>>[]> {
  const service = serviceOf(command);
  try {
    return [{ data: await operatorOf(service).call(call, ...asked) }];
  } catch (error) {
    const cells = cellsToChoose(service, error);
    const ask = async (cell: string) => {
      try {
        return {
          cell,
          data: await operatorOf(serviceAt(service.baseUrl, cell)).call(call, ...asked),
        };
      } catch (error) {
        if (error instanceof ApiError) return inCell(cell, error);
        throw error;
      }
    };
    const replies = await Promise.all(cells.map(ask));
    const failures = replies
      .filter((reply) => reply instanceof ApiError)
      .map(({ message }) => message);
    if (failures.length === cells.length) throw new ApiError(failures.join('; '));
    for (const failure of failures) console.error(`fleet: ${printable(failure)}`);
    if (failures.length > 0) process.exitCode = 1;
    return replies.flatMap((reply) => (reply instanceof ApiError ? [] : [reply]));
  }
}

/** The lists of cells in one, each item with its cell, if that has a name. */
export const inOneList = <T extends object>(lists: OfCell<T[]>[]): (T & { cell?: string })[] =>
  lists.flatMap(({ cell, data }) => (cell ? data.map((item) => ({ cell, ...item })) : data));
