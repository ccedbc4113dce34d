/** The events of the API. */
import type { ErrorCode } from './errors.js';
import type { UpdateInfo } from './results.js';

export interface Events {
  updateAvailable: { update: UpdateInfo };
  noUpdateAvailable: Record<string, never>;
  storeUpdateRequired: { reason: string };
  /** At most ten a second. */
  downloadProgress: { id: string; received: number; total: number };
  downloadComplete: { update: UpdateInfo };
  downloadFailed: { update: UpdateInfo; code: ErrorCode; message: string };
  nextSet: { update: UpdateInfo };
  /** The content was switched, at the start or by a reload; null: to that of the binary. */
  updateApplied: { update: UpdateInfo | null };
  appReady: { update: UpdateInfo | null };
  updateFailed: { update: UpdateInfo; reason: string };
  rolledBack: { update: UpdateInfo; reason: string };
}

export type EventName = keyof Events;

export interface ListenerHandle {
  remove(): void;
}
