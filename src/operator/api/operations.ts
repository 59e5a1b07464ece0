import {
  accountOperations,
  auditOperations,
  exportOperations,
  tokenOperations,
  userOperations,
} from './accounts.ts';
import { channelOperations } from './channels.ts';
import { connectionOperations } from './connections.ts';
import { deletionOperations } from './deletion.ts';
import { incidentOperations } from './incidents.ts';
import { moveOperations } from './moves.ts';
import { serviceOperations } from './service.ts';
import { webhookOperations } from './webhooks.ts';

export const operations = {
  ...accountOperations,
  ...connectionOperations,
  ...tokenOperations,
  ...webhookOperations,
  ...incidentOperations,
  ...channelOperations,
  ...userOperations,
  ...exportOperations,
  ...auditOperations,
  ...deletionOperations,
  ...moveOperations,
  ...serviceOperations,
};
