/** What the promises of the API resolve with. */

export interface UpdateInfo {
  id: string;
  version: string;
  buildNumber: string;
  /** The digest of the package. */
  sha256: string;
  /** The bytes of the package, where they are known. */
  size?: number;
}

/** There is no update for this app. */
export interface NoUpdate {
  status: 'none';
}

/** There is an update that needs a new release in the app store. */
export interface StoreUpdateRequired {
  status: 'storeUpdateRequired';
  reason: string;
}

/** The update failed before on this binary, and is not tried again. */
export interface Quarantined {
  status: 'quarantined';
  update: UpdateInfo;
}

/** The download waits for a connection that is not metered. */
export interface WaitsForWifi {
  status: 'waitsForWifi';
  update: UpdateInfo;
}

export interface Available {
  status: 'available';
  update: UpdateInfo;
}

/** The update is installed; `next(update.id)` makes it the next content. */
export interface Downloaded {
  status: 'downloaded';
  update: UpdateInfo;
}

/** `staged`: the update runs from the next start on, or sooner by `apply`. `current`: the content that runs is this update. */
export interface Synced {
  status: 'staged' | 'current';
  update: UpdateInfo;
}

export type CheckResult = NoUpdate | Available | StoreUpdateRequired | Quarantined;
export type DownloadResult = NoUpdate | Downloaded | StoreUpdateRequired | Quarantined | WaitsForWifi;
export type SyncResult = NoUpdate | Synced | StoreUpdateRequired | Quarantined | WaitsForWifi;

export interface CurrentContent {
  /** Whether the content of the binary itself runs. */
  embedded: boolean;
  /** The update's id, or `embedded:` with the binary's build. */
  updateId: string;
  version: string;
  buildNumber: string;
  /** Whether the content is not confirmed yet. */
  trial: boolean;
}

export interface FailedUpdate {
  update: UpdateInfo;
  reason: string;
}
