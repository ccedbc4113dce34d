require 'json'

package = JSON.parse(File.read(File.join(__dir__, 'package.json')))

Pod::Spec.new do |s|
  # The app imports this name with underscores.
  s.name = 'launchway-react-native'
  s.version = package['version']
  s.summary = package['description']
  s.license = package['license']
  s.homepage = 'https://reactnative.dev'
  s.author = 'Launchway'
  s.source = { :path => '.' }
  s.source_files = 'ios/Sources/**/*.{swift,m}'
  s.resource_bundles = { 'LaunchwayReactNativePrivacy' => ['ios/Sources/LaunchwayCore/PrivacyInfo.xcprivacy'] }
  s.resource_bundles = { 'LaunchwayReactNativePrivacy' => ['ios/Sources/LaunchwayCore/PrivacyInfo.xcprivacy'] }
  s.ios.deployment_target = '15.1'
  s.libraries = 'z'
  s.swift_version = '5.9'
  s.pod_target_xcconfig = { 'DEFINES_MODULE' => 'YES' }
  install_modules_dependencies(s)
end
