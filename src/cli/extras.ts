export { commands as alerts } from '../extras/alerts/commands.ts';
export { commands as archive } from '../extras/archive/commands.ts';
export { commands as deliveryLog } from '../extras/delivery-log/commands.ts';
export { commands as exports } from '../extras/exports/commands.ts';
export { commands as externalIds } from '../extras/external-ids/commands.ts';
export { commands as providers } from '../extras/providers/commands.ts';
export { commands as singleSignOn } from '../extras/single-sign-on/commands.ts';
export { commands as why } from '../extras/why/commands.ts';
