import type { Operator } from '../operate/client.ts';
import type { DemoProvider } from './provider.ts';

/** What an extra does with the demo's connection to a fake provider; `isNew` if it was just added. */
export type Connect = (
  operator: Operator,
  id: string,
  provider: DemoProvider,
  isNew: boolean,
) => Promise<void>;

export * from '../../extras/providers/commands/demo.ts';
