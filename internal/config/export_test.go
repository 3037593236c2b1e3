package config

// Describe says what a field's value has to be, for the documentation.
var Describe = describe
