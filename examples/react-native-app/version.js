// Change it and publish: phones show it at the start after the next.
export const VERSION = '1.0.0';
