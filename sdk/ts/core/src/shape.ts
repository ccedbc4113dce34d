/** Reads values out of JSON and throws where they have another form than expected. */
import { isErrorCode, type ErrorCode } from './errors.js';
import type { UpdateInfo } from './results.js';

export type JsonObject = { readonly [name: string]: unknown };

export class ShapeError extends Error {}

export function parseObject(json: unknown): JsonObject {
  let value: unknown;
  try {
    value = typeof json === 'string' ? JSON.parse(json) : undefined;
  } catch {
    value = undefined;
  }
  return object(value, 'the text');
}

export function text(fields: JsonObject, name: string): string {
  const value = fields[name];
  return typeof value === 'string' ? value : wrong(name, 'a text');
}

export function flag(fields: JsonObject, name: string): boolean {
  const value = fields[name];
  return typeof value === 'boolean' ? value : wrong(name, 'a boolean');
}

/** A number of bytes. */
export function size(fields: JsonObject, name: string): number {
  const value = fields[name];
  return Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : wrong(name, 'a size');
}

export function errorCode(fields: JsonObject, name: string): ErrorCode {
  const value = fields[name];
  return isErrorCode(value) ? value : wrong(name, 'a code');
}

export function update(fields: JsonObject, name: string): UpdateInfo {
  return updateInfo(fields[name], name);
}

export function updateOrNull(fields: JsonObject, name: string): UpdateInfo | null {
  return fields[name] === null ? null : update(fields, name);
}

export function updates(fields: JsonObject, name: string): UpdateInfo[] {
  const value = fields[name];
  return Array.isArray(value) ? value.map((item) => updateInfo(item, name)) : wrong(name, 'a list');
}

function updateInfo(value: unknown, name: string): UpdateInfo {
  const fields = object(value, name);
  const known = {
    id: text(fields, 'id'),
    version: text(fields, 'version'),
    buildNumber: text(fields, 'buildNumber'),
    sha256: text(fields, 'sha256'),
  };
  // A native part may write a size that it does not know as null.
  return fields['size'] === undefined || fields['size'] === null ? known : { ...known, size: size(fields, 'size') };
}

function object(value: unknown, name: string): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : wrong(name, 'an object');
}

function wrong(name: string, form: string): never {
  throw new ShapeError(`${name} is not ${form}`);
}
