import { Hono } from 'hono';
import type { App } from '../../../core/platform/http/context.ts';
import type { Pages } from '../../../ui/added.ts';
import { limited, role } from '../../../ui/session/rights.ts';
import { pathOfId } from '../find.ts';
import * as delivery from './delivery.tsx';
import { webhookForm } from './form.tsx';
import { onRecord } from './notified.tsx';
import { askReplay, replayPart } from './replay.tsx';
import * as tests from './tests.ts';
import { onOverview } from './times.tsx';
import { onWebhook } from './webhook.tsx';
import { onWebhooks } from './webhooks.tsx';

const ofWebhook = '/webhooks/:id';
const ofDelivery = `${ofWebhook}/deliveries/:deliveryId` as const;

export const pages: Pages = {
  routes: new Hono<App>()
    .get(`${ofWebhook}/replay`, role('member'), limited, askReplay)
    .post(`${ofWebhook}/replay`, role('member'), limited, replayPart)
    .get(ofDelivery, role('viewer'), delivery.detail)
    .post(`${ofDelivery}/replay`, role('member'), limited, delivery.replayDelivery)
    .post(`${ofDelivery}/send`, role('member'), limited, delivery.sendDelivery)
    .post(`${ofWebhook}/try`, role('member'), limited, tests.tryAgain)
    .post(`${ofWebhook}/test-event`, role('member'), limited, tests.sendEvent)
    .post(`${ofWebhook}/test-accident`, role('member'), limited, tests.sendAccident),
  webhooks: onWebhooks,
  webhook: onWebhook,
  webhookForm,
  overview: onOverview,
  pathOfId,
  record: onRecord,
};
