/** The form of each event's payload. */
import type { EventName, Events } from './events.js';
import { errorCode, type JsonObject, size, text, update, updateOrNull } from './shape.js';

type Readers = { readonly [Name in EventName]: (fields: JsonObject) => Events[Name] };

const withUpdate = (fields: JsonObject) => ({ update: update(fields, 'update') });
const withUpdateOrNull = (fields: JsonObject) => ({ update: updateOrNull(fields, 'update') });
const withReason = (fields: JsonObject) => ({ update: update(fields, 'update'), reason: text(fields, 'reason') });

export const PAYLOADS: Readers = {
  updateAvailable: withUpdate,
  noUpdateAvailable: () => ({}),
  storeUpdateRequired: (fields) => ({ reason: text(fields, 'reason') }),
  downloadProgress: (fields) => ({ id: text(fields, 'id'), received: size(fields, 'received'), total: size(fields, 'total') }),
  downloadComplete: withUpdate,
  downloadFailed: (fields) => ({ ...withUpdate(fields), code: errorCode(fields, 'code'), message: text(fields, 'message') }),
  nextSet: withUpdate,
  updateApplied: withUpdateOrNull,
  appReady: withUpdateOrNull,
  updateFailed: withReason,
  rolledBack: withReason,
};

export function isEventName(name: unknown): name is EventName {
  return typeof name === 'string' && Object.prototype.hasOwnProperty.call(PAYLOADS, name);
}
