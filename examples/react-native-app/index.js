import { AppRegistry } from 'react-native';
import { Launchway } from '@launchway/react-native';
import { App } from './App';
import { name } from './app.json';

Launchway.sync().catch(console.warn);

AppRegistry.registerComponent(name, () => App);
