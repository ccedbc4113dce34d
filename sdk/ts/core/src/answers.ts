/** The form of each method's result. */
import type { CheckResult, CurrentContent, DownloadResult, FailedUpdate, SyncResult } from './results.js';
import { flag, type JsonObject, ShapeError, text, update, updateOrNull } from './shape.js';

export function checkResult(fields: JsonObject): CheckResult {
  const status = text(fields, 'status');
  switch (status) {
    case 'none':
      return { status };
    case 'available':
    case 'quarantined':
      return { status, update: update(fields, 'update') };
    case 'storeUpdateRequired':
      return { status, reason: text(fields, 'reason') };
    default:
      return unknownStatus(status);
  }
}

export function downloadResult(fields: JsonObject): DownloadResult {
  const status = text(fields, 'status');
  switch (status) {
    case 'none':
      return { status };
    case 'downloaded':
    case 'quarantined':
    case 'waitsForWifi':
      return { status, update: update(fields, 'update') };
    case 'storeUpdateRequired':
      return { status, reason: text(fields, 'reason') };
    default:
      return unknownStatus(status);
  }
}

export function syncResult(fields: JsonObject): SyncResult {
  const status = text(fields, 'status');
  switch (status) {
    case 'none':
      return { status };
    case 'staged':
    case 'current':
    case 'quarantined':
    case 'waitsForWifi':
      return { status, update: update(fields, 'update') };
    case 'storeUpdateRequired':
      return { status, reason: text(fields, 'reason') };
    default:
      return unknownStatus(status);
  }
}

export function currentContent(fields: JsonObject): CurrentContent {
  return {
    embedded: flag(fields, 'embedded'),
    updateId: text(fields, 'updateId'),
    version: text(fields, 'version'),
    buildNumber: text(fields, 'buildNumber'),
    trial: flag(fields, 'trial'),
  };
}

export function failedUpdate(fields: JsonObject): FailedUpdate | null {
  const failed = updateOrNull(fields, 'update');
  return failed && { update: failed, reason: text(fields, 'reason') };
}

function unknownStatus(status: string): never {
  throw new ShapeError(`status has the unknown value \`${status}\``);
}
