/** The types of the API, and the error of its promises. */
export { LaunchwayError } from '../../core/src/index.js';
export type {
  CheckResult,
  CurrentContent,
  DownloadResult,
  ErrorCode,
  EventName,
  Events,
  FailedUpdate,
  ListenerHandle,
  Options,
  SyncResult,
  UpdateInfo,
} from '../../core/src/index.js';
