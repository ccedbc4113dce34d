/** What a promise of the API rejects with. */

/** All codes, spelled as the native parts spell them. */
export const ERROR_CODES = [
  'notConfigured',
  'invalidArgument',
  'notMain',
  'notStarted',
  'stateCorrupt',
  'storage',
  'noSpace',
  'network',
  'server',
  'invalidAnswer',
  'unverified',
  'downloadFailed',
  'badPackage',
  'notFound',
  'reloadUnsupported',
  'unavailable',
  'unknown',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

export class LaunchwayError extends Error {
  override readonly name = 'LaunchwayError';

  constructor(
    readonly code: ErrorCode,
    message: string,
  ) {
    super(message);
  }
}

export function isErrorCode(value: unknown): value is ErrorCode {
  return (ERROR_CODES as readonly unknown[]).includes(value);
}

/** The error behind whatever a transport rejected with: `unknown` unless it has one of the codes. */
export function launchwayError(reason: unknown): LaunchwayError {
  if (reason instanceof LaunchwayError) {
    return reason;
  }
  const { code, message } = Object(reason) as { code?: unknown; message?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : String(reason);
  return new LaunchwayError(isErrorCode(code) ? code : 'unknown', text);
}
