import { accountOperations, auditOperations, tokenOperations, userOperations } from './accounts.ts';
import { connectionOperations } from './connections.ts';
import { deletionOperations } from './deletion.ts';
import * as extras from './extras.ts';
import { serviceOperations } from './service.ts';

export const ofCore = {
  ...accountOperations,
  ...connectionOperations,
  ...tokenOperations,
  ...userOperations,
  ...auditOperations,
  ...deletionOperations,
  ...serviceOperations,
};

export const ofExtras: extras.OfExtra[] = Object.values(extras);

/** Typed one by one, for clients. */
export const operations = {
  ...ofCore,
  ...extras.alerts.operations,
  ...extras.archive.operations,
  ...extras.cells.operations,
  ...extras.deliveryLog.operations,
  ...extras.exports.operations,
  ...extras.externalIds.operations,
  ...extras.providers.operations,
  ...extras.search.operations,
  ...extras.singleSignOn.operations,
  ...extras.why.operations,
};
