/** What the packages for all frameworks export. */
export { ERROR_CODES, LaunchwayError, launchwayError, type ErrorCode } from './errors.js';
export type { EventName, Events, ListenerHandle } from './events.js';
export { createLaunchway, type Launchway } from './launchway.js';
export { checkedOptions, type Options } from './options.js';
export type {
  Available,
  CheckResult,
  CurrentContent,
  Downloaded,
  DownloadResult,
  FailedUpdate,
  NoUpdate,
  Quarantined,
  StoreUpdateRequired,
  Synced,
  SyncResult,
  UpdateInfo,
  WaitsForWifi,
} from './results.js';
export type { Transport } from './transport.js';
