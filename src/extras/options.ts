import { installOptions } from '../core/webhooks/options.ts';
import { filters } from './filters/option.ts';
import { oauth } from './oauth/option.ts';
import { signing } from './signing/option.ts';

/* The options that webhooks have, in the order in which they are shown. */
installOptions([signing, filters, oauth]);
