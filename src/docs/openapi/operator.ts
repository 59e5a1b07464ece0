import * as v from 'valibot';
import * as records from '../../ingest/schema.ts';
import * as delivery from '../../operator/delivery-replies.ts';
import { HealthOutput } from '../../operator/health/schema.ts';
import { HomeOutput } from '../../operator/homes/replies.ts';
import * as moving from '../../operator/moves/schema.ts';
import { PullOutput } from '../../operator/pulls/replies.ts';
import * as replies from '../../operator/replies.ts';
import * as operator from '../../operator/schema.ts';
import { type Json, ref } from './components.ts';
import { document } from './document.ts';
import { examples } from './examples.ts';
import type { Operation } from './operation.ts';
import { audit, deletion, records as exported } from './operator-deletion.ts';
import { deliveries, receivers } from './operator-deliveries.ts';
import { moves } from './operator-moves.ts';
import { pulls, ring } from './operator-pulls.ts';
import { accounts, connections, people, service, tokens } from './operator-routes.ts';
import { recordSchemas } from './resources.ts';

/** The document of what connectors and operators call, served at `/openapi.operator.json`. */
export const operatorDocument = (): Json =>
  document({
    title: 'Fleet Data Service, for connectors and operators',
    description: 'How records come in, and what operators do. Nothing here is for customers.',
    tags: [
      { name: 'Ingest', description: 'For connectors.' },
      { name: 'Accounts', description: 'Customers of the service.' },
      { name: 'Connections', description: 'Their data sources.' },
      { name: 'Tokens', description: 'API tokens and ingest keys.' },
      { name: 'Deliveries', description: 'What became of notifications.' },
      { name: 'People', description: 'Who signs in to the portal.' },
      { name: 'Audit log', description: 'Who changed what.' },
      { name: 'Deletion', description: 'Deleting accounts and connections, and erasing drivers.' },
      { name: 'Moving', description: 'Moving accounts from one home to another.' },
      { name: 'Export', description: 'Reading everything.' },
      { name: 'Service', description: 'The service itself.' },
    ],
    operations: [
      ingest,
      ...accounts,
      ...connections,
      ...pulls,
      ring,
      ...tokens,
      ...deliveries,
      ...receivers,
      ...people,
      ...audit,
      ...deletion,
      ...moves,
      ...exported,
      ...service,
    ],
    schemas: {
      IngestInput: v.object({
        ...records.IngestBody.entries,
        records: v.pipe(Records, v.minLength(1), v.maxLength(500)),
      }),
      ...recordSchemas,
      IngestOutcome: records.Outcome,
      Rejection: records.Rejection,
      NewAccount: operator.NewAccount,
      AccountChange: operator.AccountChange,
      Account: replies.AccountOutput,
      AuditEntry: replies.AuditEntry,
      AccountDeletion: operator.AccountDeletion,
      ConnectionDeletion: operator.ConnectionDeletion,
      Deletion: replies.DeletionOutput,
      DeletionProgress: replies.DeletionProgress,
      NewMove: moving.NewMove,
      Move: moving.MoveOutput,
      MoveProgress: moving.MoveProgress,
      NewConnection: operator.NewConnection,
      ConnectionChange: operator.ConnectionChange,
      OperatorConnection: replies.ConnectionOutput,
      NewCredential: operator.NewCredential,
      WebhookSecret: operator.WebhookSecret,
      Pull: PullOutput,
      NewToken: operator.NewToken,
      Token: replies.TokenOutput,
      IssuedToken: replies.IssuedToken,
      NewUser: operator.NewUser,
      SignInLinkInput: operator.SignInLinkInput,
      PortalUser: replies.UserOutput,
      SignInLink: replies.SignInLink,
      WebhookHealth: delivery.WebhookHealth,
      Delivery: delivery.DeliveryOutput,
      AttemptEntry: delivery.AttemptEntry,
      ReplayRange: operator.ReplayRange,
      Replayed: delivery.Replayed,
      ReplayCount: delivery.ReplayCount,
      ReceiverLimits: operator.ReceiverLimits,
      StatusReport: delivery.StatusOutput,
      Health: HealthOutput,
      Home: HomeOutput,
      FailingWebhook: delivery.FailingWebhook,
      PausedWebhook: delivery.PausedWebhook,
      AilingConnection: delivery.AilingConnection,
    },
    securitySchemes: {
      IngestKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description:
          'An ingest key. It can be used to ingest records for one connection, and for nothing else.',
      },
      OperatorKey: { type: 'http', scheme: 'bearer', description: "The service's OPERATOR_KEY." },
    },
    tooLarge: ['Request body is larger than 1024 KiB', 'Request body is larger than 64 KiB'],
  });

const Records = v.array(records.IngestRecord);

const ingest: Operation = {
  method: 'post',
  path: '/ingest',
  id: 'ingest',
  tag: 'Ingest',
  summary: 'Send in records',
  description:
    'A record replaces what was known under its sourceId. Records are checked one by one: those that are valid are ' +
    'accepted even if others are refused. Sending the same call again changes nothing and tells nobody twice.',
  security: 'IngestKey',
  body: 'IngestInput',
  reply: {
    name: 'IngestReply',
    message: 'Records taken in',
    data: ref('IngestOutcome'),
    example: examples.IngestOutcome,
  },
  refusals: [
    {
      message: 'records must have at least one record',
      field: 'records',
      must: 'must have at least one record',
    },
    { message: 'records can be at most 500 records', field: 'records', must: 'can be at most 500 records' },
    { message: 'notify must be true or false', field: 'notify', must: 'must be true or false' },
    { message: 'Request body is not valid JSON' },
    { message: 'Request body is not valid UTF-8' },
  ],
};
