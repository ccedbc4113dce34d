import { Application } from '@nativescript/core';
import { Launchway } from '@launchway/nativescript';
import { createPage } from './page';

Launchway.sync().catch(console.warn);

Application.run({ create: createPage });
