import type { Demo } from '../local/directory.ts';
import type { Operator } from '../operate/client.ts';
import type { DemoProvider } from './provider.ts';

export type DemoAccount = Pick<Demo, 'accountId' | 'apiToken' | 'connections'>;

/** What an extra does with the demo's account, `isNew` or of an earlier run. Its second connection is to a fake provider. */
export type Prepare = (
  operator: Operator,
  account: DemoAccount,
  provider: DemoProvider,
  isNew: boolean,
) => Promise<void>;

export * from '../../extras/evidence/commands/demo.ts';
export * from '../../extras/providers/commands/demo.ts';
