import { installOptions } from '../core/webhooks/options.ts';
import { filters } from './filters/option.ts';
import { oauth } from './oauth/option.ts';
import { signing } from './signing/option.ts';

installOptions([
  // In the order in which they are shown.
  signing,
  filters,
  oauth,
]);
