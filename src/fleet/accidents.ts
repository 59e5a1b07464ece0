import { optional } from './field.ts';
import { boolean, location, scale, text, time } from './field-types.ts';
import { recordKind } from './record.ts';

/** Accidents are not kept but as their notifications, one for each level. */
export const accidents = recordKind({
  kind: 'accident',
  sourceId: 'crash-3',
  record: 'One level of an accident. Each level is told once.',
  fields: {
    vin: text(40, 'The vehicle identification number.', '1FUJGLDR5CLBP8834'),
    eventTime: time('When it happened.'),
    location: location('Where it happened.'),
    notificationLevel: scale(1, 3, '1 first detection, 2 verified, 3 report-ready.', 1),
    reportReady: optional(
      boolean('Whether the full report is available. Defaults to true at level 3, false before.', false),
    ),
    isAccurate: optional(
      boolean('Whether the detection has been verified. Defaults to true from level 2, false before.', false),
    ),
  },
});
