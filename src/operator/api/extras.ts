import type { Operation } from '../../extras/operation.ts';

/** Operations that an extra adds to a tag of the core's, or to its own, which it describes. */
export type OfExtra = {
  tag: readonly [tag: string, about?: string];
  operations: Record<string, Operation>;
};

export * as alerts from '../../extras/alerts/operations.ts';
export * as archive from '../../extras/archive/operations.ts';
export * as cells from '../../extras/cells/operations.ts';
export * as deliveryLog from '../../extras/delivery-log/operations.ts';
export * as exports from '../../extras/exports/operations.ts';
export * as externalIds from '../../extras/external-ids/operations.ts';
export * as providers from '../../extras/providers/operations.ts';
export * as search from '../../extras/search/operations.ts';
export * as singleSignOn from '../../extras/single-sign-on/operations.ts';
export * as why from '../../extras/why/operations.ts';
