import { siteDirectory } from '../project/paths.ts';
import { updateSite } from './build.ts';

await updateSite(siteDirectory);
